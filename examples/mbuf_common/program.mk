# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors

# For the Makefiles of the examples that move mbufs. They set PACKAGE, which pkg-config
# finds, and PROGRAMS, and then name the sources of each program.

PKGCONF ?= pkg-config
CFLAGS ?= -O2 -g
CFLAGS += -Wall -Wextra -Wno-missing-field-initializers

ifeq ($(shell $(PKGCONF) --exists $(PACKAGE) && echo yes),)
$(error pkg-config does not find $(PACKAGE); see PKG_CONFIG_PATH)
endif

# rte_graph is experimental in DPDK before 23.11.
COMCH_CFLAGS := $(shell $(PKGCONF) --cflags $(PACKAGE)) -DALLOW_EXPERIMENTAL_API
COMCH_LIBS := $(shell $(PKGCONF) --libs $(PACKAGE))

.PHONY: all static clean
all: $(addprefix build/,$(PROGRAMS))

static: COMCH_LIBS := $(shell $(PKGCONF) --static --libs $(PACKAGE))
static: all

$(addprefix build/,$(PROGRAMS)): ../mbuf_common/ends.c ../common/example.c \
		$(wildcard *.h ../common/*.h ../mbuf_common/*.h) Makefile
	@mkdir -p build
	$(CC) $(CFLAGS) $(COMCH_CFLAGS) $(filter %.c,$^) -o $@ $(LDFLAGS) $(COMCH_LIBS)

clean:
	rm -rf build

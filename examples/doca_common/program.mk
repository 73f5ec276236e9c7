# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors

# Builds build/PROGRAM_dpu or build/PROGRAM_host, depending on the headers found. The
# variables PROGRAM_dpu and PROGRAM_host override these names.

PKGCONF ?= pkg-config
CFLAGS ?= -O2 -g
CFLAGS += -Wall -Wextra

MODULES ?= doca-common doca-comch doca-argp

ifneq ($(MAKECMDGOALS),clean)
ifeq ($(shell $(PKGCONF) --exists $(MODULES) && echo yes),)
$(error pkg-config does not find $(MODULES); run "comch-doca-env dpu -- make", or host)
endif
endif

DOCA_CFLAGS := $(shell $(PKGCONF) --cflags $(MODULES)) -DDOCA_ALLOW_EXPERIMENTAL_API
DOCA_LIBS := $(shell $(PKGCONF) --libs $(MODULES))
IS_DPU := $(shell $(CC) $(DOCA_CFLAGS) -include doca_build_config.h -E -dM -x c /dev/null | \
	grep -cw DOCA_ARCH_DPU)
ROLE := $(if $(filter 0,$(IS_DPU)),host,dpu)

OUTPUT := build/$(or $(PROGRAM_$(ROLE)),$(PROGRAM)_$(ROLE))

.PHONY: all clean
all: $(OUTPUT)

$(OUTPUT): $(SOURCES) $(wildcard ../common/*.h ../doca_common/*.h) Makefile ../doca_common/program.mk
	@mkdir -p build
	$(CC) -D_GNU_SOURCE $(CFLAGS) $(DOCA_CFLAGS) $(SOURCES) -o $@ $(LDFLAGS) $(DOCA_LIBS)

clean:
	rm -rf build

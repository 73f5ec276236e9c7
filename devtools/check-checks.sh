#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Check the checks: in a copy of the sources, break each rule once and verify that its
# check reports that line.
#
# usage: devtools/check-checks.sh

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
(cd "$top" && project_files . | tar -c -T - -f -) | tar -x -C "$copy"
git -C "$copy" init -q

status=0

# finds CHECK TEXT FILE LINE...: with the lines appended to FILE (created if it does not
# exist), the check fails, and its output contains TEXT.
finds() {
	local check=$1 text=$2 file=$copy/$3 output made=false
	if [ ! -e "$file" ]; then
		made=true
		mkdir -p "$(dirname "$file")"
		: >"$file"
	fi
	cp "$file" "$copy/.saved"
	printf '%s\n' "${@:4}" >>"$file"
	if output=$("$copy/devtools/$check" 2>&1) || [[ $output != *"$text"* ]]; then
		printf '%s: not found in %s: %s\n%s\n' "$check" "$3" "${*:4}" "$output"
		status=1
	fi
	if $made; then
		rm "$file"
	else
		cp "$copy/.saved" "$file"
	fi
	rm "$copy/.saved"
}

c=lib/comch/break.c
finds check-spdx.sh SPDX $c 'int x;'
finds check-style.sh 'space at the end' $c 'int x; '
finds check-style.sh 'by tabs' $c '    int x;'
finds check-style.sh 'comments' $c 'int x; // why'
finds check-style.sh 'keyword' $c $'\tif(x)'
finds check-style.sh 'versions of DPDK' $c '#if RTE_VERSION > 1'
finds check-style.sh 'include rte_bitops.h' $c $'\tx = rte_align32pow2(x);'
finds check-style.sh 'not in a library' $c $'\tprintf("x");'
finds check-style.sh 'not in a library' drivers/comch/shm/break.c $'\tassert(x);'
finds check-style.sh 'not in lib/comch/meson.build' $c 'int x;'
finds check-style.sh '100 columns' $c "$(printf 'int %0100d;' 0)"
# shellcheck disable=SC2046 # words on purpose
finds check-style.sh '600 lines' $c $(seq 601)
# shellcheck disable=SC2046 # words on purpose
finds check-style.sh '800 lines' test/break.c $(seq 801)
# shellcheck disable=SC2046 # words on purpose
finds check-style.sh 'a function of 71' $c '{' $(seq 71) '}'
# shellcheck disable=SC2016 # literal $1
finds check-scripts.sh SC2086 devtools/break.sh '#!/bin/sh' 'cat $1'
finds check-scripts.sh SyntaxError devtools/break.py '#!/usr/bin/env python3' 'if'
# Split, because otherwise this line is an error itself.
finds check-scripts.sh 'receive' README.md 'rec''ieve'
finds check-layering.py 'may not include' app/comch-perf/break.c '#include "comch_wire.h"'
finds check-layering.py 'may not include' app/comch-perf/engine/break.c '#include "api/api.h"'
finds check-layering.py 'may not include' app/comch-perf/floor/break.c '#include "engine/run.h"'
finds check-layering.py 'lacks break' app/comch-perf/break/break.c '#include "base/clock.h"'
finds check-layering.py 'may not include' examples/ctrl_path/break.c \
	'#include <rte_comch_driver.h>'
finds check-layering.py 'may not include' lib/doca/base/break.c '#include "comch_peer.h"'
finds check-layering.py 'may not include' lib/doca/include/doca_types.h '#include <rte_comch.h>'
finds check-layering.py 'may not include' lib/doca/include/doca_types.h '#include "base/err.h"'
finds check-layering.py 'may not include' lib/doca/comch/break.c '#include "msgq/msgq.h"'
finds check-layering.py 'may not include' lib/doca/mem/break.c '#include "dpa/dpa.h"'
finds check-layering.py 'is to be included as ctx/ctx.h' lib/doca/ctx/break.c '#include "ctx.h"'
finds check-layering.py 'may not include' lib/comch/break.c '#include <doca_error.h>'
finds check-layering.py 'may not include' app/comch-info/break.c '#include "base/err.h"'
finds check-layering.py 'may not include' drivers/comch/shm/break.c '#include "ctrl/comch_wire.h"'
finds check-layering.py 'may not include' drivers/comch/common/mapped/break.c '#include "shm_private.h"'
finds check-layering.py 'may not include' lib/comch/sdk/break.c '#include "base/comch_obj.h"'
finds check-layering.py 'may not include' lib/comch/base/break.c '#include "ctrl/comch_conn.h"'
finds check-layering.py 'may not include' lib/comch/ctrl/break.c '#include "data/comch_fast_path.h"'
finds check-layering.py 'may not include' lib/comch/mem/break.c '#include "ctrl/comch_dev.h"'
finds check-layering.py 'may not include' lib/comch/msgq/break.c '#include "mem/comch_mem.h"'
finds check-layering.py 'may not include' lib/comch/data/break.c '#include "comch_chan.h"'
finds check-layering.py 'may not include' lib/pipe/break.c '#include "sdk/comch_log.h"'
finds check-layering.py 'ROOMS: lib/comch lacks break' lib/comch/break/break.c
finds check-layering.py 'to be included as sdk/comch_log.h' drivers/comch/shm/break.c '#include "comch_log.h"'
finds check-layering.py 'may not include' lib/comch/rte_comch.h '#include "comch_wire.h"'
finds check-layering.py 'may not include' lib/comch/ctrl/comch_wire.c '#include "break.h"' \
	"$(mkdir -p "$copy/drivers/comch/shm" && echo >"$copy/drivers/comch/shm/break.h")"
rm "$copy/drivers/comch/shm/break.h"

# Reads of peer-writable memory: each of these lines, in a function.
peer() {
	finds check-peer-reads.py "$1" $c 'void f(void)' '{' "${@:2}" '}'
}
peer 'peer_load' $'\tx = c->rec_shared->seq;'
peer 'peer_load' $'\tmemcpy(&x, &c->rec_shared->seq, 8);'
peer 'peer_load' $'\tx = comch_load_acquire(&c->rec_shared->seq);'
peer 'peer_load' $'\tconst struct comch_rec *rec = &c->rec_shared->rec[i];' $'\tx = rec->len;'
peer 'peer_load' $'\tconst struct comch_rec *rec = &c->rec_shared->rec[i];' $'\tx = *rec;'
peer 'index' $'\tx = table[peer_idx];'
peer 'comch_foreign_recv' $'\tn = recv(sock, buf, sizeof(buf), MSG_DONTWAIT);'
peer 'address' $'\tx = m->addr + peer_off;'
peer 'length' $'\tmemcpy(dst, src, peer_len);'
# Memory that a device writes.
m=drivers/comch/mlx5/break.c
finds check-peer-reads.py 'behind a completion' $m $'\tx = qp->slab[0];'
finds check-peer-reads.py 'mlx5_qp_next' $m $'\tn = mlx5_verbs->poll_cq(cq, 1, &wc);'
finds check-peer-reads.py 'mlx5_mem.c' $m $'\tint access = IBV_ACCESS_REMOTE_WRITE;'

# Barriers: each of these lines, in a function.
barrier() {
	finds check-barriers.py "$1" $c 'void f(void)' '{' "${@:2}" '}'
}
barrier 'names no model' $'\tcomch_store_release(&x, 1);'
barrier 'names no model' $'\t/* Release: pairs with g(). */' $'\tcomch_store_release(&x, 1);'
barrier 'names no model' $'\tx = 1; /* ring.pml, commit */' $'\tcomch_store_release(&y, 1);'
barrier 'names no model' $'\t__atomic_thread_fence(__ATOMIC_SEQ_CST);'
barrier 'names no model' $'\tx = atomic_load_explicit(&y, memory_order_acquire);'
barrier 'names no model' $'\trte_smp_wmb();'
barrier 'no barrier at that label' $'\tcomch_fence_heavy(); /* ring.pml, break */'
barrier 'no barrier at that label' $'\tcomch_fence_heavy(); /* break.pml, post */'
# In a model with variants of its own, only a label with a variant proves anything.
finds check-barriers.py 'no barrier of the code names label break_it' test/model/ring.pml \
	'break_it: store_release(0, 1)'
barrier 'no barrier at that label' $'\tcomch_fence_heavy(); /* drain.pml, end */'

finds check-symbols.py 'not in version.map' lib/comch/rte_comch_poll.h 'int rte_comch_break(void);'
finds check-symbols.py 'not in version.map' lib/pipe/rte_comch_pipe.h 'int rte_comch_break(void);'
finds check-symbols.py 'twin' lib/comch/rte_comch_poll.h 'static inline int' \
	'rte_comch_break_burst(void)' '{' $'\treturn 0;' '}'
finds check-symbols.py 'VERSION' VERSION '9'
page=doc/guides/security.md head=('' '| promise | test |' '|---|---|')
# shellcheck disable=SC2016 # the page has backticks
{
	finds check-promises.py 'no test is named' $page "${head[@]}" '| x | many |'
	finds check-promises.py 'is no test' $page "${head[@]}" '| x | `t_nowhere` |'
	finds check-promises.py 'is no test' $page "${head[@]}" '| x | `test/nowhere/t_*.c` |'
	finds check-promises.py 'has no case' $page "${head[@]}" '| x | `nothing` in `t_shm_dir` |'
}
# One extra function, and all others missing.
echo 'void doca_break(void) { }' | cc -shared -fPIC -x c - -o "$copy/libcomch_doca.so"
output=$("$copy/devtools/check-symbols.py" "$copy/libcomch_doca.so" || true)
for text in 'doca_break: defined' 'doca_error_get_name: declared'; do
	if [[ $output != *"$text"* ]]; then
		printf 'check-symbols.py: not in the output: %s\n%s\n' "$text" "$output"
		status=1
	fi
done
rm "$copy/libcomch_doca.so"
# shellcheck disable=SC2016 # literal backticks
finds check-docs.sh 'there is no' doc/guides/model.md 'See `lib/comch/break.c`.'
finds check-docs.sh 'argument' lib/comch/rte_comch_poll.h '/** @return x @param none */' \
	'int rte_comch_break(int x);'
finds check-docs.sh 'is not what its source says' doc/guides/shm_driver.md 'One more line.'
exit "$status"

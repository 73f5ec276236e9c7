#compdef comch-doca-env comch-dpacc comch-info comch-lab comch-perf comch-run test-comch
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors

# What a command says with --help.
_gnu_generic

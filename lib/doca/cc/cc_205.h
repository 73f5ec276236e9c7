/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef IMPL_CC_CC_205_H
#define IMPL_CC_CC_205_H

/*
 * The headers of doca_cc as programs of DOCA 2.5 see them; all others are those
 * that the library is built with. So the compiler compares what is defined with
 * what programs get, and gives functions that have the name of another one in
 * 2.6 their own symbols.
 */

#include "cc/cc.h"
#include "comch/comch.h"

#undef COMCH_DOCA_GENERATION
#define COMCH_DOCA_GENERATION 205

#include <doca_cc.h>
#include <doca_cc_consumer.h>
#include <doca_cc_producer.h>

/* Counts of tasks were given by their logarithms. 0, which is refused: too large. */
static inline uint32_t
impl_cc_count_205(uint32_t log_count)
{
	return log_count < 32 ? UINT32_C(1) << log_count : 0;
}

#endif /* IMPL_CC_CC_205_H */

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#define DOCA_LOGGING_ALLOW_TRACE

#include "log/log_forms.h"

DOCA_LOG_REGISTER(FORMS)

const struct log_form log_forms[] = {
	{ log_tokens_c, "[DOCA_COMCH::SAMPLE]" },
	{ log_word_c, "[MY_APP]" },
	{ log_string_c, "[A::B c]" },
#ifdef HAVE_CPP
	{ log_tokens_cpp, "[DOCA_COMCH::SAMPLE]" },
	{ log_word_cpp, "[MY_APP]" },
	{ log_string_cpp, "[A::B c]" },
#endif
};
const unsigned int nb_log_forms = sizeof(log_forms) / sizeof(log_forms[0]);

doca_error_t
log_trace(int *n)
{
	DOCA_LOG_TRC("step %d", ++*n);
	return *n == 4 ? DOCA_SUCCESS : DOCA_ERROR_UNEXPECTED;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef LOG_LOG_FORMS_H
#define LOG_LOG_FORMS_H

/*
 * Files that make their source of messages in all the ways that programs do,
 * in C and C++: log_form.in.
 */

#include <doca_log.h>

#ifdef __cplusplus
extern "C" {
#endif

struct log_form {
	void (*log)(void);
	const char *source;
};
extern const struct log_form log_forms[];
extern const unsigned int nb_log_forms;

/* Logs ++*n as a step: built with DOCA_LOGGING_ALLOW_TRACE. */
doca_error_t log_trace(int *n);

void log_tokens_c(void);
void log_word_c(void);
void log_string_c(void);
void log_tokens_cpp(void);
void log_word_cpp(void);
void log_string_cpp(void);

#ifdef __cplusplus
}
#endif

#endif /* LOG_LOG_FORMS_H */

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef ODD_H
#define ODD_H

/* Descriptors that are neither memory nor a wake socket. */

#define ODD_NB 15

/* A new descriptor of this kind, below ODD_NB; dir: for a file. */
int odd_fd(unsigned int kind, const char *dir);

#endif /* ODD_H */

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef DOCA_EAL_LOG_H
#define DOCA_EAL_LOG_H

/*
 * Where an EAL that is started here logs, and with it librte_comch, which knows why a handshake
 * failed or a limit ended a connection:
 *
 *     level            the program's SDK backends   stderr
 *     error and worse  by their levels              always
 *     warning          by their levels              if there is no such backend
 */
void impl_eal_log_open(void);

#endif /* DOCA_EAL_LOG_H */

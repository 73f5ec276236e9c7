/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * Names and addresses. A server is found by a hash of its function and name: the hash
 * selects some ports of the range that all devices agree on, and the server listens on
 * the first one that is free. The client tries them in the same order.
 */

#include <errno.h>
#include <sha2.h>
#include <string.h>

#include <arpa/inet.h>

#include "mlx5_private.h"

void
mlx5_name_hash(const char *func, const char *name, uint8_t hash[16])
{
	uint8_t digest[SHA256_DIGEST_LENGTH];
	SHA2_CTX ctx;

	SHA256Init(&ctx);
	/* With its NUL, so that no other pair of names has the same bytes. */
	SHA256Update(&ctx, (const uint8_t *)func, strlen(func) + 1);
	SHA256Update(&ctx, (const uint8_t *)name, strlen(name));
	SHA256Final(digest, &ctx);
	memcpy(hash, digest, 16);
}

static uint32_t
greatest_divisor(uint32_t a, uint32_t b)
{
	uint32_t rest;

	while (b != 0) {
		rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* Double hashing: two names with one port in common rarely have all in common. */
uint32_t
mlx5_name_ports(const struct mlx5_dev *dev, const uint8_t hash[16],
		uint16_t ports[MLX5_CANDIDATES])
{
	uint32_t nb = (uint32_t)dev->last_port - dev->first_port + 1, start, step, i;
	uint64_t half[2];

	memcpy(half, hash, sizeof(half));
	start = (uint32_t)(half[0] % nb);
	step = 1 + (uint32_t)(half[1] % nb);
	while (greatest_divisor(step, nb) != 1)
		step++;
	for (i = 0; i < MLX5_CANDIDATES && i < nb; i++)
		ports[i] = (uint16_t)(dev->first_port +
			(start + (uint64_t)i * step) % nb);
	return i;
}

int
mlx5_name_parse_addr(const char *text, struct mlx5_addr *addr)
{
	memset(addr, 0, sizeof(*addr));
	if (inet_pton(AF_INET, text, &addr->in.sin_addr) == 1) {
		addr->sa.sa_family = AF_INET;
		return 0;
	}
	if (inet_pton(AF_INET6, text, &addr->in6.sin6_addr) == 1) {
		addr->sa.sa_family = AF_INET6;
		return 0;
	}
	return -EINVAL;
}

void
mlx5_name_format_addr(const struct mlx5_addr *addr, char *text, size_t size)
{
	const void *bytes = addr->sa.sa_family == AF_INET6 ?
		(const void *)&addr->in6.sin6_addr : (const void *)&addr->in.sin_addr;

	if (inet_ntop(addr->sa.sa_family, bytes, text, (socklen_t)size) == NULL)
		text[0] = '\0';
}

bool
mlx5_name_same_addr(const struct mlx5_addr *a, const struct mlx5_addr *b)
{
	union ibv_gid x, y;

	/* An IPv4 address and the same one mapped into IPv6 are one. */
	mlx5_name_addr_to_gid(a, &x);
	mlx5_name_addr_to_gid(b, &y);
	return memcmp(&x, &y, sizeof(x)) == 0;
}

socklen_t
mlx5_name_addr_len(const struct mlx5_addr *addr)
{
	return addr->sa.sa_family == AF_INET6 ? sizeof(addr->in6) : sizeof(addr->in);
}

void
mlx5_name_set_port(struct mlx5_addr *addr, uint16_t port)
{
	if (addr->sa.sa_family == AF_INET6)
		addr->in6.sin6_port = htons(port);
	else
		addr->in.sin_port = htons(port);
}

void
mlx5_name_addr_to_gid(const struct mlx5_addr *addr, union ibv_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	if (addr->sa.sa_family == AF_INET6) {
		memcpy(gid->raw, &addr->in6.sin6_addr, sizeof(gid->raw));
		return;
	}
	gid->raw[10] = 0xff;
	gid->raw[11] = 0xff;
	memcpy(&gid->raw[12], &addr->in.sin_addr, sizeof(addr->in.sin_addr));
}

bool
mlx5_name_gid_to_addr(const union ibv_gid *gid, struct mlx5_addr *addr)
{
	struct in6_addr in6;

	memcpy(&in6, gid->raw, sizeof(in6));
	memset(addr, 0, sizeof(*addr));
	if (IN6_IS_ADDR_V4MAPPED(&in6)) {
		addr->in.sin_family = AF_INET;
		memcpy(&addr->in.sin_addr, &gid->raw[12], sizeof(addr->in.sin_addr));
		return true;
	}
	if (IN6_IS_ADDR_UNSPECIFIED(&in6) || IN6_IS_ADDR_LINKLOCAL(&in6))
		return false;
	addr->in6.sin6_family = AF_INET6;
	addr->in6.sin6_addr = in6;
	return true;
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef MLX5_HOST_H
#define MLX5_HOST_H

/* What the machine says of its RDMA devices, in /sys and /dev. */

#include <stdbool.h>
#include <stddef.h>

/* Prefix of all paths: "" but in tests. */
extern const char *mlx5_host_root;

/* The PCI address of a device, by its path in sysfs. False: it has none. */
bool mlx5_host_pci(const char *ibdev_path, char *pci, size_t size);
/* Call found for each device that the kernel has. */
void mlx5_host_each(void (*found)(const char *ibdev, void *arg), void *arg);
/*
 * A device that libibverbs does not list: why is it not to be opened? -EACCES or -ENODEV;
 * -ENOENT: the kernel has no such device.
 */
int mlx5_host_blocked(const char *ibdev, char *why, size_t size);
/* Can the connection manager be used? 0, -EACCES or -ENODEV. */
int mlx5_host_check_cm(char *why, size_t size);
/* libibverbs lists no device: why? -ENODEV or -EACCES; 0: unknown. */
int mlx5_host_no_device(char *why, size_t size);
/* The limit of locked memory: "unlimited", "8192 KiB". */
void mlx5_host_memlock(char *text, size_t size);

#endif /* MLX5_HOST_H */

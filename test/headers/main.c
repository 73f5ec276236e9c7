/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/* That this program was built is the test; it is empty, so that it links. */
int
main(void)
{
	return 0;
}

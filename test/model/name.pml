/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The name of a server, comch_place_lock() and shm_sock.c: a lock file says whose it is, and
 * both it and the socket are removed at the end. A server may be killed at any time: the
 * kernel drops its lock, and the files stay. One server has the name, and its socket.
 *
 *   begin                                end
 *   open the lock file, or make it       is the lock file still ours?
 *   lock it, or fail: in use             remove the socket
 *   is it still at its path?             remove the lock file
 *   remove an old socket, bind           close, which unlocks
 *
 * NO_CHECK: broken: a server that locked a file which is removed believes to have the name.
 * SOCK_LAST: broken: the lock file is removed before the socket.
 */

#define SERVERS 3
#define FILES (SERVERS + 2)

byte path;            /* the lock file there; 0: none */
byte made;            /* lock files made so far */
bool locked[FILES];
byte sock;            /* whose socket is there; 0: none */
byte owners;

active [SERVERS] proctype server()
{
	byte me = _pid + 1, file;
	bool owns;

	atomic {
		if
		:: path == 0 -> made++; path = made
		:: else
		fi;
		file = path
	};
	atomic {
		if
		:: locked[file] -> goto over
		:: else -> locked[file] = true
		fi
	};
#ifndef NO_CHECK
	atomic {
		if
		:: path != file -> locked[file] = false; goto over
		:: else
		fi
	};
#endif
	atomic { owners++; owns = true; assert(owners == 1) };
	sock = 0;
	/* Killed. */
	if
	:: goto dead
	:: true
	fi;
	atomic { assert(sock == 0); sock = me };
	assert(sock == me);
	if
	:: goto dead
	:: true
	fi;
	assert(sock == me);
#ifdef SOCK_LAST
	atomic { owners--; owns = false; path = 0 };
	sock = 0;
#else
	sock = 0;
	atomic { owners--; owns = false; path = 0 };
#endif
dead:	atomic {
		locked[file] = false;
		if
		:: owns -> owners--; owns = false
		:: else
		fi
	};
over:	skip
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * The ring of cells of a link, shm_layout.h: pairs P and X. A frame of one or two cells is
 * whole when its first cell has its sequence, and a cell is written again when it was read.
 *
 *   sender                              receiver
 *   room, by rx_pos (X)?                first cell's sequence (P)?
 *   bytes; sequences of later cells     bytes
 *   first cell's sequence (P)           rx_pos (X)
 */

#define THREADS 2
#define LOCS 3
#define PLAIN 2
#define STORES 5
#define SEQ(pos) ((pos) % 2)
#define RX_POS 2
#define CELL(pos) (3 + (pos) % 2)

#include "memory.h"

#define FRAMES 3

byte frame_cells[8];   /* cells of the frame that begins at a position, as it says itself */

active proctype sender()
{
	byte me = 0, i, pos, cells, rx;

	for (i : 1 .. FRAMES) {
		if
		:: cells = 1
		:: cells = 2
		fi;
		do
		:: pos + cells - rx <= 2 -> break
		:: else ->
room:			load_acquire(RX_POS, rx)
		od;
		touch(CELL(pos));
		frame_cells[pos] = cells;
		if
		:: cells == 2 ->
			touch(CELL(pos + 1));
			store_relaxed(SEQ(pos + 1), pos + 2)
		:: else
		fi;
publish:	store_release(SEQ(pos), pos + 1);
		pos = pos + cells
	}
}

active proctype receiver()
{
	byte me = 1, i, pos, seq;

	for (i : 1 .. FRAMES) {
		do
		:: seq == pos + 1 -> break
		:: else ->
look:			load_acquire(SEQ(pos), seq)
		od;
		assert(frame_cells[pos] > 0);
		touch(CELL(pos));
		if
		:: frame_cells[pos] == 2 -> touch(CELL(pos + 1))
		:: else
		fi;
		pos = pos + frame_cells[pos];
consumed:	store_release(RX_POS, pos)
	}
}

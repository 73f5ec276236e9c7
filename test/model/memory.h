/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

/*
 * C11's memory model, for models of code with acquires, releases and fences. Spin itself has
 * only sequential consistency.
 *
 * All stores to a location are kept, in their order. A thread has a view: for each location,
 * the oldest store that it may still read. A load reads this store or any later one. A
 * release store carries the view of its thread, and an acquire load that reads it takes that
 * view over. A full fence exchanges views with all earlier full fences; a heavy fence, of
 * membarrier(2), does so for all threads at once. Nothing is read before it was stored.
 *
 *   LOCS     atomic locations, from 0 on; then PLAIN locations that are not atomic
 *   THREADS  processes, which use `me`, their number
 *   STORES   limit of stores to an atomic location, the initial value included
 *
 * A plain location is owned by one thread at a time: touch() fails if an earlier access has
 * not happened before.
 *
 * run.sh numbers the labels in front of these operations and runs the model once per label with
 * that operation's ordering removed, which must fail: each labelled ordering is necessary.
 *
 * MULTI_COPY: what a thread has acquired is visible to all before its later relaxed stores
 * are. C11 does not promise it, the memory models of x86-64 and arm64 do.
 */

#ifndef PLAIN
#define PLAIN 0
#endif
#define ALL (LOCS + PLAIN)

#define AT(l, t) ((l) * STORES + (t))
#define VIEW(th, l) view[(th) * ALL + (l)]
#define CARRIED(l, t, k) carried[AT(l, t) * ALL + (k)]
#define ACQUIRED(th, l) acquired[(th) * ALL + (l)]

byte last[ALL];                    /* stores to each location */
byte value[LOCS * STORES];
byte view[THREADS * ALL];
byte carried[LOCS * STORES * ALL]; /* the views that stores carry */
byte by[LOCS * STORES];            /* who stored */
byte fences[ALL];                  /* view of the last full fence */
#ifdef ACQUIRE_FENCES
byte acquired[THREADS * ALL];      /* what an acquire fence would take over */
#endif
#ifdef MULTI_COPY
byte passed[THREADS * ALL];        /* what was acquired */
#endif
/* c_ is the only one that steps outside of a d_step use: a d_step undoes no hidden variable. */
hidden byte k_, t_, o_, c_;

#define LATEST(l) value[AT(l, last[l])]
/* This operation without its ordering: see run.sh. */
#define ORDERED(n) (n == 0 || n != weak)

c_code {
	static int chosen;

	__attribute__((constructor)) static void
	choose(void)
	{
		chosen = getenv("WEAK") != NULL ? atoi(getenv("WEAK")) : 0;
	}
}
hidden byte weak = c_expr { chosen };

/*
 * Append a store. The carried view of the store before continues in a read-modify-write, and in
 * a store of the same thread.
 */
inline append_(w_, l_, v_, is_release, is_rmw)
{
	last[l_] = last[l_] + 1;
	t_ = last[l_];
	assert(t_ < STORES);
	value[AT(l_, t_)] = v_;
	by[AT(l_, t_)] = me + 1;
	VIEW(me, l_) = t_;
	k_ = 0;
	do
	:: k_ < ALL ->
		o_ = 0;
		if
		:: is_rmw || by[AT(l_, t_ - 1)] == me + 1 -> o_ = CARRIED(l_, t_ - 1, k_)
		:: else
		fi;
		if
		:: is_release && ORDERED(w_) && VIEW(me, k_) > o_ -> o_ = VIEW(me, k_)
		:: else
		fi;
#ifdef MULTI_COPY
		if
		:: passed[me * ALL + k_] > o_ -> o_ = passed[me * ALL + k_]
		:: else
		fi;
#endif
		CARRIED(l_, t_, k_) = o_;
		k_++
	:: else -> break
	od;
	CARRIED(l_, t_, l_) = t_;
	k_ = 0; t_ = 0; o_ = 0
}

/* Take over what store t_ of l_ carries. */
inline take_(w_, l_, is_acquire)
{
	VIEW(me, l_) = t_;
	k_ = 0;
	do
	:: k_ < ALL ->
		o_ = CARRIED(l_, t_, k_);
		if
		:: is_acquire && ORDERED(w_) && o_ > VIEW(me, k_) -> VIEW(me, k_) = o_
		:: else
		fi;
#ifdef MULTI_COPY
		if
		:: is_acquire && ORDERED(w_) && o_ > passed[me * ALL + k_] ->
			passed[me * ALL + k_] = o_
		:: else
		fi;
#endif
#ifdef ACQUIRE_FENCES
		if
		:: o_ > ACQUIRED(me, k_) -> ACQUIRED(me, k_) = o_
		:: else
		fi;
#endif
		k_++
	:: else -> break
	od;
	k_ = 0; o_ = 0
}

inline store_n_(w_, l_, v_, is_release)
{
	d_step { append_(w_, l_, v_, is_release, false) }
}

inline load_n_(w_, l_, x_, is_acquire)
{
	atomic {
		c_ = VIEW(me, l_);
		do
		:: c_ < last[l_] -> c_++
		:: break
		od;
		skip; /* a jump into a d_step is an error */
		d_step { t_ = c_; take_(w_, l_, is_acquire); x_ = value[AT(l_, t_)]; t_ = 0 };
		c_ = 0
	}
}

/* Reads the last store, whose value is in x_, and stores v_, which may be an expression of x_. */
inline rmw_n_(w_, l_, x_, v_, is_acquire, is_release)
{
	d_step {
		t_ = last[l_];
		x_ = value[AT(l_, t_)];
		take_(w_, l_, is_acquire);
		append_(w_, l_, v_, is_release, true)
	}
}

inline fence_full_n_(w_)
{
	d_step {
		k_ = 0;
		do
		:: k_ < ALL ->
			if
			:: ORDERED(w_) && fences[k_] > VIEW(me, k_) -> VIEW(me, k_) = fences[k_]
			:: ORDERED(w_) && fences[k_] <= VIEW(me, k_) -> fences[k_] = VIEW(me, k_)
			:: else
			fi;
			k_++
		:: else -> break
		od;
		k_ = 0
	}
}

/* A full fence of each thread. */
inline fence_heavy_n_(w_)
{
	d_step {
		k_ = 0;
		do
		:: k_ < ALL ->
			t_ = 0;
			do
			:: t_ < THREADS && ORDERED(w_) -> VIEW(t_, k_) = last[k_]; t_++
			:: else -> break
			od;
			fences[k_] = last[k_];
			k_++
		:: else -> break
		od;
		k_ = 0; t_ = 0
	}
}

inline fence_acquire_n_(w_)
{
	d_step {
		k_ = 0;
		do
		:: k_ < ALL ->
			if
			:: ORDERED(w_) && ACQUIRED(me, k_) > VIEW(me, k_) ->
				VIEW(me, k_) = ACQUIRED(me, k_)
			:: else
			fi;
			k_++
		:: else -> break
		od;
		k_ = 0
	}
}

/* An access to a plain location that no other may overlap. */
inline touch(l_)
{
	d_step {
		assert(VIEW(me, l_) == last[l_]);
		last[l_]++;
		VIEW(me, l_) = last[l_]
	}
}

#define store_relaxed(l, v)        store_n_(0, l, v, false)
#define store_release(l, v)        store_n_(0, l, v, true)
#define load_relaxed(l, x)         load_n_(0, l, x, false)
#define load_acquire(l, x)         load_n_(0, l, x, true)
#define rmw_relaxed(l, x, v)       rmw_n_(0, l, x, v, false, false)
#define rmw_acquire(l, x, v)       rmw_n_(0, l, x, v, true, false)
#define rmw_release(l, x, v)       rmw_n_(0, l, x, v, false, true)
#define rmw_acq_rel(l, x, v)       rmw_n_(0, l, x, v, true, true)
#define fence_full()               fence_full_n_(0)
#define fence_heavy()              fence_heavy_n_(0)
#define fence_acquire()            fence_acquire_n_(0)

/* What run.sh makes of `label: operation(...)`: n is the label's number. */
#define nth_store_release(n, l, v)  store_n_(n, l, v, true)
#define nth_load_acquire(n, l, x)   load_n_(n, l, x, true)
#define nth_rmw_acquire(n, l, x, v) rmw_n_(n, l, x, v, true, false)
#define nth_rmw_release(n, l, x, v) rmw_n_(n, l, x, v, false, true)
#define nth_rmw_acq_rel(n, l, x, v) rmw_n_(n, l, x, v, true, true)
#define nth_fence_full(n)           fence_full_n_(n)
#define nth_fence_heavy(n)          fence_heavy_n_(n)
#define nth_fence_acquire(n)        fence_acquire_n_(n)

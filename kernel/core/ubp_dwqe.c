// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * DirectWQE: the SQE in a jetty's page.
 *
 * Word 0 is stored last, and names the index behind the SQE and its valid bit. So a
 * window whose word 0 is not that of the next SQE holds nothing for us: an SQE whose
 * beginning has not arrived, an old one, or nonsense. One that is written anew while we
 * copy it shows by its word 0, and is looked at again later.
 */
#include "ubp_lockbuf.h"
#include "ubp_ta.h"

static const __le32 *ubp_dwqe_word0(const struct ubp_jetty *j)
{
	return (const __le32 *)(j->page + UBOE_JPAGE_DWQE);
}

void ubp_dwqe_init(struct ubp_jetty *j)
{
	/* what an earlier owner of the page left there is not ours */
	j->dwqe_seen = le32_to_cpu(smp_load_acquire(ubp_dwqe_word0(j)));
	if (!j->lockbuf)
		return;
	j->fetched = 0;
	j->dwqe_pi = 0;
	j->db_seen = le32_to_cpu(READ_ONCE(*(const __le32 *)(j->page + UBOE_JPAGE_DB)));
	WRITE_ONCE(*(__le32 *)(j->page + UBOE_JPAGE_DWQE_TAKEN), cpu_to_le32(0));
}

/* Copy the SQE of index @at; its blocks, 1 or 2; 0: it is not there */
static u32 ubp_dwqe_read(struct ubp_jetty *j, u32 at, u8 *to)
{
	u32 w0, n;

	/* before the rest, which was stored before it */
	w0 = le32_to_cpu(smp_load_acquire(ubp_dwqe_word0(j)));
	n = (w0 - at) & UBOE_SQE_IDX;
	if (w0 == j->dwqe_seen)
		return 0;
	if (!n || n > UBOE_DWQE_MAX_BB || !(w0 & UBOE_SQE_OWNER) == !(at & (j->sq_mask + 1))) {
		/* in the past: it must not look like a new one when indices come around */
		if ((s16)n <= 0)
			j->dwqe_seen = w0;
		return 0;
	}
	memcpy(to, j->page + UBOE_JPAGE_DWQE, n * UBOE_BB);
	smp_rmb(); /* all of it before the second look */
	if (le32_to_cpu(READ_ONCE(*ubp_dwqe_word0(j))) != w0)
		return 0;
	put_unaligned_le32(w0, to);
	return n;
}

bool ubp_dwqe_next(struct ubp_jetty *j, struct ubp_sqe *s)
{
	u8 raw[UBOE_DWQE_MAX_BB * UBOE_BB];
	u32 n = ubp_dwqe_read(j, j->fetched, raw);

	if (!n)
		return false;
	j->dwqe_seen = get_unaligned_le32(raw);
	ubp_sqe_fetch(raw, UBOE_DWQE_MAX_BB - 1, 0, n, s);
	/* the ring has it too: what is wrong here is judged there */
	if (s->status || s->nbb != n)
		return false;
	j->fetched += n;
	ubp_stat(j->dev, UBP_S_DWQES);
	return true;
}

/* A jetty with a lock buffer has no doorbell */
static void ubp_dwqe_doorbell(struct ubp_jetty *j)
{
	u32 db = le32_to_cpu(READ_ONCE(*(const __le32 *)(j->page + UBOE_JPAGE_DB)));

	if (likely(db == j->db_seen))
		return;
	j->db_seen = db;
	ubp_stat(j->dev, UBP_S_DOORBELLS_REFUSED);
}

u32 ubp_dwqe_posted(struct ubp_jetty *j)
{
	u32 room = j->sq_mask + 1 - (j->dwqe_pi - j->fetched), n, i;
	u8 raw[UBOE_DWQE_MAX_BB * UBOE_BB];

	ubp_dwqe_doorbell(j);
	n = ubp_dwqe_read(j, j->dwqe_pi, raw);
	/* its source sees to it that there is room; when it does not, it has to wait */
	if (!n || n > room)
		return j->dwqe_pi - j->fetched;
	j->dwqe_seen = get_unaligned_le32(raw);
	for (i = 0; i < n; i++)
		memcpy((u8 *)j->sq + (size_t)((j->dwqe_pi + i) & j->sq_mask) * UBOE_BB,
		       raw + i * UBOE_BB, UBOE_BB);
	j->dwqe_pi += n;
	ubp_stat(j->dev, UBP_S_DWQES);
	/* the window has been read */
	smp_store_release((__le32 *)(j->page + UBOE_JPAGE_DWQE_TAKEN), cpu_to_le32(j->dwqe_pi));
	return j->dwqe_pi - j->fetched;
}

// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Mailbox commands: the control contract of ub/uboe_mbox.h. */
#include "ubp_lockbuf.h"
#include "ubp_part.h"
#include "ubp_tm.h"
#include "ubp_tp.h"

typedef int (*ubp_mbox_fn)(struct ubp_dev *dev, u32 tag, const void *in, u32 mask, void *out);

struct ubp_mbox_row {
	u32 size; /* of the context */
	ubp_mbox_fn verb[4]; /* create, modify, query, destroy */
};

/* The handlers with the types of their contexts */
#define UBP_MBOX_CREATE(name)                                                                    \
	static int ubp_mbox_##name##_create(struct ubp_dev *dev, u32 tag, const void *in, u32 mask, \
					    void *out)                                             \
	{                                                                                        \
		(void)mask;                                                                      \
		(void)out;                                                                       \
		return ubp_##name##_create(dev, tag, (const struct uboe_##name##_ctx *)in);       \
	}
#define UBP_MBOX_MODIFY(name)                                                                    \
	static int ubp_mbox_##name##_modify(struct ubp_dev *dev, u32 tag, const void *in, u32 mask, \
					    void *out)                                             \
	{                                                                                        \
		(void)out;                                                                       \
		return ubp_##name##_modify(dev, tag, (const struct uboe_##name##_ctx *)in, mask); \
	}
#define UBP_MBOX_QUERY(name)                                                                     \
	static int ubp_mbox_##name##_query(struct ubp_dev *dev, u32 tag, const void *in, u32 mask, \
					   void *out)                                              \
	{                                                                                        \
		(void)in;                                                                        \
		(void)mask;                                                                      \
		return ubp_##name##_query(dev, tag, (struct uboe_##name##_ctx *)out);             \
	}
#define UBP_MBOX_DESTROY(name)                                                                   \
	static int ubp_mbox_##name##_destroy(struct ubp_dev *dev, u32 tag, const void *in,         \
					     u32 mask, void *out)                                  \
	{                                                                                        \
		(void)in;                                                                        \
		(void)mask;                                                                      \
		(void)out;                                                                       \
		return ubp_##name##_destroy(dev, tag);                                            \
	}

UBP_MBOX_CREATE(jetty)
UBP_MBOX_MODIFY(jetty)
UBP_MBOX_QUERY(jetty)
UBP_MBOX_DESTROY(jetty)
UBP_MBOX_CREATE(rct)
UBP_MBOX_MODIFY(rct)
UBP_MBOX_QUERY(rct)
UBP_MBOX_DESTROY(rct)
UBP_MBOX_CREATE(jfc)
UBP_MBOX_MODIFY(jfc)
UBP_MBOX_QUERY(jfc)
UBP_MBOX_DESTROY(jfc)
UBP_MBOX_CREATE(jfr)
UBP_MBOX_MODIFY(jfr)
UBP_MBOX_QUERY(jfr)
UBP_MBOX_DESTROY(jfr)
UBP_MBOX_CREATE(jgrp)
UBP_MBOX_MODIFY(jgrp)
UBP_MBOX_QUERY(jgrp)
UBP_MBOX_DESTROY(jgrp)
UBP_MBOX_CREATE(tp)
UBP_MBOX_MODIFY(tp)
UBP_MBOX_QUERY(tp)
UBP_MBOX_DESTROY(tp)
UBP_MBOX_CREATE(seg)
UBP_MBOX_MODIFY(seg)
UBP_MBOX_QUERY(seg)
UBP_MBOX_DESTROY(seg)
UBP_MBOX_CREATE(tm)
UBP_MBOX_MODIFY(tm)
UBP_MBOX_QUERY(tm)
UBP_MBOX_DESTROY(tm)
UBP_MBOX_CREATE(lockbuf)
UBP_MBOX_QUERY(lockbuf)
UBP_MBOX_DESTROY(lockbuf)
UBP_MBOX_MODIFY(entity)
UBP_MBOX_QUERY(entity)

#define UBP_ROW(name, modify)                                                                  \
	{                                                                                        \
		sizeof(struct uboe_##name##_ctx),                                                \
		{                                                                                \
			ubp_mbox_##name##_create, modify, ubp_mbox_##name##_query,               \
				ubp_mbox_##name##_destroy                                        \
		}                                                                                \
	}

static const struct ubp_mbox_row ubp_mbox_rows[16] = {
	[UBOE_MBOX_JETTY >> 4] = UBP_ROW(jetty, ubp_mbox_jetty_modify),
	[UBOE_MBOX_RCT >> 4] = UBP_ROW(rct, ubp_mbox_rct_modify),
	[UBOE_MBOX_JFC >> 4] = UBP_ROW(jfc, ubp_mbox_jfc_modify),
	[UBOE_MBOX_JFR >> 4] = UBP_ROW(jfr, ubp_mbox_jfr_modify),
	[UBOE_MBOX_JGRP >> 4] = UBP_ROW(jgrp, ubp_mbox_jgrp_modify),
	[UBOE_MBOX_TP >> 4] = UBP_ROW(tp, ubp_mbox_tp_modify),
	[UBOE_MBOX_SEG >> 4] = UBP_ROW(seg, ubp_mbox_seg_modify),
	[UBOE_MBOX_TM >> 4] = UBP_ROW(tm, ubp_mbox_tm_modify),
	[UBOE_MBOX_LOCKBUF >> 4] = UBP_ROW(lockbuf, NULL),
	/* it is there as long as the device is */
	[UBOE_MBOX_ENTITY >> 4] = { sizeof(struct uboe_entity_ctx),
				    { NULL, ubp_mbox_entity_modify, ubp_mbox_entity_query, NULL } },
};

int ubp_mbox_exec(struct ubp_dev *dev, u32 cmd, u32 tag, const void *in, u32 in_len, void *out,
		  u32 out_len)
{
	const struct ubp_mbox_row *row;
	u32 verb = cmd & 15, mask = 0;
	ubp_mbox_fn fn;

	if (cmd > 0xff || verb < UBOE_MBOX_CREATE || verb > UBOE_MBOX_DESTROY)
		return -EINVAL;
	row = &ubp_mbox_rows[cmd >> 4];
	fn = row->verb[verb - UBOE_MBOX_CREATE];
	if (!fn)
		return -EOPNOTSUPP;
	switch (verb) {
	case UBOE_MBOX_CREATE:
		if (in_len != row->size)
			return -EINVAL;
		break;
	case UBOE_MBOX_MODIFY:
		if (in_len != row->size + sizeof(mask))
			return -EINVAL;
		mask = get_unaligned_le32((const u8 *)in + row->size);
		break;
	case UBOE_MBOX_QUERY:
		if (out_len < row->size)
			return -EINVAL;
		break;
	default:
		break;
	}
	return fn(dev, tag, in, mask, out);
}

int ubp_set_home(struct ubp_dev *dev, u32 obj, u32 tag, void *home)
{
	struct ubp_tp *tp;
	void *o;

	switch (obj) {
	case UBOE_MBOX_JETTY:
		o = ubp_table_get(&dev->jetty, tag);
		if (o)
			((struct ubp_jetty *)o)->home = home;
		return o ? 0 : -ENOENT;
	case UBOE_MBOX_JFC:
		o = ubp_table_get(&dev->jfc, tag);
		if (o)
			((struct ubp_jfc *)o)->home = home;
		return o ? 0 : -ENOENT;
	case UBOE_MBOX_JFR:
		o = ubp_table_get(&dev->jfr, tag);
		if (o)
			((struct ubp_jfr *)o)->home = home;
		return o ? 0 : -ENOENT;
	case UBOE_MBOX_TP:
		tp = ubp_tp_find(dev, tag);
		if (tp)
			tp->home = home;
		return tp ? 0 : -ENOENT;
	default:
		return -EINVAL;
	}
}

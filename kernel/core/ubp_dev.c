// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "ubp_lockbuf.h"
#include "ubp_part.h"
#include "ubp_tm.h"

static const char *const ubp_stat_names[UBP_S_MAX] = {
	[UBP_S_TX_PACKETS] = "tx_packets",
	[UBP_S_TX_BYTES] = "tx_bytes",
	[UBP_S_RX_PACKETS] = "rx_packets",
	[UBP_S_RX_BYTES] = "rx_bytes",
	[UBP_S_RX_INVALID] = "rx_invalid",
	[UBP_S_RETRANSMITS] = "retransmits",
	[UBP_S_TIMEOUTS] = "timeouts",
	[UBP_S_ACKS_SENT] = "acks_sent",
	[UBP_S_SACKS_SENT] = "sacks_sent",
	[UBP_S_NAKS_SENT] = "naks_sent",
	[UBP_S_DUPLICATES] = "duplicates",
	[UBP_S_OUT_OF_ORDER] = "out_of_order",
	[UBP_S_RNR_SENT] = "rnr_sent",
	[UBP_S_RNR_RECEIVED] = "rnr_received",
	[UBP_S_REMOTE_ERRORS] = "remote_errors",
	[UBP_S_CHANNELS_LOST] = "channels_lost",
	[UBP_S_CE_MARKS] = "ce_marks",
	[UBP_S_CE_RECEIVED] = "ce_received",
	[UBP_S_CNP_SENT] = "cnp_sent",
	[UBP_S_CNP_RECEIVED] = "cnp_received",
	[UBP_S_CC_REDUCTIONS] = "cc_reductions",
	[UBP_S_CC_NOT_MAPPABLE] = "cc_not_mappable",
	[UBP_S_KICKS] = "kicks",
	[UBP_S_CQ_OVERFLOWS] = "cq_overflows",
	[UBP_S_DWQES] = "dwqes",
	[UBP_S_DOORBELLS_REFUSED] = "doorbells_refused",
	[UBP_S_RAW_SENT] = "raw_sent",
	[UBP_S_RAW_REFUSED] = "raw_refused",
	[UBP_S_ROT_GRANTED] = "rot_granted",
	[UBP_S_ROT_DENIED] = "rot_denied",
	[UBP_D_SHORT] = "drop_short",
	[UBP_D_IP_HEADER] = "drop_ip_header",
	[UBP_D_LENGTH] = "drop_length",
	[UBP_D_UDP_PORT] = "drop_udp_port",
	[UBP_D_UDP_CSUM] = "drop_udp_csum",
	[UBP_D_ICRC] = "drop_icrc",
	[UBP_D_TP_VERSION] = "drop_tp_version",
	[UBP_D_TP_OPCODE] = "drop_tp_opcode",
	[UBP_D_TP_NLP] = "drop_tp_nlp",
	[UBP_D_TP_STATUS] = "drop_tp_status",
	[UBP_D_PAD] = "drop_pad",
	[UBP_D_NO_CHANNEL] = "drop_no_channel",
	[UBP_D_WRONG_PEER] = "drop_wrong_peer",
	[UBP_D_WRONG_STATE] = "drop_wrong_state",
	[UBP_D_PSN_WINDOW] = "drop_psn_window",
	[UBP_D_ACK_INVALID] = "drop_ack_invalid",
	[UBP_D_SACK_INVALID] = "drop_sack_invalid",
	[UBP_D_CNP] = "drop_cnp",
	[UBP_D_CC_COUNTERS] = "drop_cc_counters",
	[UBP_D_DUPLICATE] = "drop_duplicate",
	[UBP_D_TA_HEADER] = "drop_ta_header",
	[UBP_D_TA_OPCODE] = "drop_ta_opcode",
	[UBP_D_TA_RESPONSE] = "drop_ta_response",
	[UBP_D_RC_TABLE] = "drop_rc_table",
	[UBP_D_TPCM] = "drop_tpcm",
	[UBP_D_TPCM_NO_JETTY] = "drop_tpcm_no_jetty",
	[UBP_D_TPCM_STALE] = "drop_tpcm_stale",
	[UBP_D_UTP_NO_JETTY] = "drop_utp_no_jetty",
	[UBP_D_NO_TARGET] = "drop_no_target",
	[UBP_D_TARGET_STATE] = "drop_target_state",
	[UBP_D_TARGET_TOKEN] = "drop_target_token",
	[UBP_D_TARGET_NO_RECEIVE] = "drop_target_no_receive",
	[UBP_D_TARGET_TOO_LONG] = "drop_target_too_long",
	[UBP_D_TARGET_ACCESS] = "drop_target_access",
	[UBP_D_TARGET_REQUEST] = "drop_target_request",
	[UBP_D_TARGET_OVERFLOW] = "drop_target_overflow",
	[UBP_D_PARTITION] = "drop_partition",
	[UBP_D_PRIVILEGE] = "drop_privilege",
	[UBP_D_LINK_CFG] = "drop_link_cfg",
};

const char *ubp_stat_name(u32 stat)
{
	return stat < UBP_S_MAX ? ubp_stat_names[stat] : NULL;
}

void ubp_config_defaults(struct ubp_config *cfg)
{
	memset(cfg, 0, sizeof(*cfg));
	cfg->max_jetty = 1u << 17; /* 64K and the well-known numbers below */
	cfg->max_jfr = 1u << 18; /* 64K shared ones, and one per jetty */
	cfg->max_jfc = 1u << 17;
	cfg->max_seg = 1u << 20;
	cfg->max_share = 4096;
	cfg->max_jgrp = 1u << 17;
	cfg->udp_port = UB_UDP_PORT;
	cfg->npi = UB_NPI_DEFAULT;
	cfg->hop_limit = 64;
	cfg->verify_csum = true;
	cfg->window = 512;
	cfg->ack_every = 32;
	cfg->ack_delay_us = 10000; /* half of the shortest RTO */
	cfg->rto_min_us = 20000;
	cfg->rto_max_us = 1000000;
	cfg->lost_min_ms = 5000; /* guests and laptops pause for seconds */
	cfg->budget = 64;
	cfg->slice = 16;
	cfg->retrans = UB_TPCM_RETRANS_SR | UB_TPCM_RETRANS_FAST | UB_TPCM_RETRANS_MARK;
	cfg->caps = UB_CAP_LONG_SEND | UB_CAP_SEND_INV | UB_CAP_WASA | UB_CAP_REDUCE | UB_CAP_CNP2;
	ubp_cc_defaults(&cfg->cc);
}

int ubp_table_init(struct ubp_dev *dev, struct ubp_table *t, u32 max)
{
	if (!max || max > 1u << 20)
		return -EINVAL;
	t->max = max;
	t->leaves = (max + UBP_TABLE_LEAF - 1) / UBP_TABLE_LEAF;
	t->top = (void **)dev->ops->zalloc(dev, t->leaves * sizeof(void *));
	return t->top ? 0 : -ENOMEM;
}

void ubp_table_exit(struct ubp_dev *dev, struct ubp_table *t)
{
	u32 i;

	if (!t->top)
		return;
	for (i = 0; i < t->leaves; i++)
		if (t->top[i])
			dev->ops->free_later(dev, t->top[i]);
	dev->ops->free_later(dev, t->top);
	t->top = NULL;
	t->max = 0;
}

int ubp_table_add(struct ubp_dev *dev, struct ubp_table *t, u32 id, void *obj)
{
	void **leaf;

	if (id >= t->max)
		return -EINVAL;
	leaf = (void **)t->top[id / UBP_TABLE_LEAF];
	if (!leaf) {
		leaf = (void **)dev->ops->zalloc(dev, UBP_TABLE_LEAF * sizeof(void *));
		if (!leaf)
			return -ENOMEM;
		smp_store_release(&t->top[id / UBP_TABLE_LEAF], (void *)leaf);
	}
	if (leaf[id % UBP_TABLE_LEAF])
		return -EEXIST;
	smp_store_release(&leaf[id % UBP_TABLE_LEAF], obj);
	t->count++;
	return 0;
}

void ubp_table_del(struct ubp_table *t, u32 id)
{
	void **leaf = (void **)t->top[id / UBP_TABLE_LEAF];

	WRITE_ONCE(leaf[id % UBP_TABLE_LEAF], NULL);
	t->count--;
}

static bool ubp_config_ok(const struct ubp_config *c)
{
	return c->window >= 64 && c->window <= 2048 && !(c->window & (c->window - 1)) &&
	       c->budget && c->slice && c->ack_every && c->ack_every <= 64 && c->rto_min_us &&
	       c->rto_max_us >= c->rto_min_us && c->hop_limit && c->udp_port &&
	       ubp_npi_ok(c->npi) && ubp_cc_known(c->cc.alg) && ubp_cc_par_ok(&c->cc.par);
}

int ubp_dev_init(struct ubp_dev *dev)
{
	int err;

	if (!ubp_config_ok(&dev->cfg))
		return -EINVAL;
	ubp_lock_init(&dev->share_lock);
	dev->npi = dev->cfg.npi;
	err = ubp_table_init(dev, &dev->jetty, dev->cfg.max_jetty);
	if (!err)
		err = ubp_table_init(dev, &dev->tp, dev->cfg.max_jetty);
	if (!err)
		err = ubp_table_init(dev, &dev->share, dev->cfg.max_share);
	if (!err)
		err = ubp_table_init(dev, &dev->jfr, dev->cfg.max_jfr);
	if (!err)
		err = ubp_table_init(dev, &dev->jfc, dev->cfg.max_jfc);
	if (!err)
		err = ubp_table_init(dev, &dev->seg, dev->cfg.max_seg);
	if (!err)
		err = ubp_table_init(dev, &dev->jgrp, dev->cfg.max_jgrp);
	if (err)
		ubp_dev_exit(dev);
	return err;
}

void ubp_dev_exit(struct ubp_dev *dev)
{
	ubp_tm_exit(dev);
	ubp_table_exit(dev, &dev->jgrp);
	ubp_lockbuf_exit(dev);
	ubp_table_exit(dev, &dev->seg);
	ubp_table_exit(dev, &dev->jfc);
	ubp_table_exit(dev, &dev->jfr);
	ubp_table_exit(dev, &dev->share);
	ubp_table_exit(dev, &dev->tp);
	ubp_table_exit(dev, &dev->jetty);
}

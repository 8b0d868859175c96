// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Parameters of congestion control: ranges, named sets, and how they are written. */
#include "ubp_cc_par.h"

#define UBP_CC_P(field, lo, hi)                                                                    \
	{                                                                                          \
#field, offsetof(struct ubp_cc_par, field), lo, hi                                 \
	}

const struct ubp_cc_param ubp_cc_params[UBP_CC_PARAMS] = {
	UBP_CC_P(max_kbps, 1000, 400000000),
	UBP_CC_P(min_kbps, 100, 400000000),
	UBP_CC_P(start_part, 1, 1000),
	UBP_CC_P(burst_us, 0, 10000),
	UBP_CC_P(cnp_us, 0, 1000000),
	UBP_CC_P(cnp_rtt, 0, 256),
	UBP_CC_P(cut_us, 0, 1000000),
	UBP_CC_P(cut_rtt, 0, 256),
	UBP_CC_P(cut_shift, 1, 7),
	UBP_CC_P(light_shift, 1, 7),
	UBP_CC_P(g, 1, 1024),
	UBP_CC_P(alpha0, 0, 1024),
	UBP_CC_P(alpha_us, 1, 1000000),
	UBP_CC_P(alpha_rtt, 0, 256),
	UBP_CC_P(rise_us, 1, 1000000),
	UBP_CC_P(rise_rtt, 0, 256),
	UBP_CC_P(rise_bytes, 1024, 1u << 30),
	UBP_CC_P(stages, 1, 31),
	UBP_CC_P(ai_kbps, 0, 400000000),
	UBP_CC_P(ai_part, 0, 1000),
	UBP_CC_P(hai_kbps, 0, 400000000),
	UBP_CC_P(hai_part, 0, 1000),
	UBP_CC_P(hai_grow, 0, 1),
	UBP_CC_P(cwd0, 1024, 8u << 20),
	UBP_CC_P(cwd_max, 1024, 8u << 20),
	UBP_CC_P(alpha, 1, 255),
	UBP_CC_P(beta, 0, 7),
	UBP_CC_P(gamma, 0, 7),
	UBP_CC_P(caqm_alpha, 1, 255),
	UBP_CC_P(caqm_beta, 0, 7),
	UBP_CC_P(caqm_gamma, 0, 7),
	UBP_CC_P(caqm_theta, 1, 1000),
};

/*
 * What LDCP starts from is not public: the window's values are a hypothesis in every set.
 * CAQM's are the specification's, and alpha, beta and gamma a half.
 */
#define UBP_CC_WINDOWS                                                                             \
	.cwd0 = 65536, .cwd_max = 8u << 20, .alpha = 16, .beta = 1, .gamma = 0, .caqm_alpha = 8,   \
	.caqm_beta = 1, .caqm_gamma = 1, .caqm_theta = 10

static const struct {
	const char *name;
	struct ubp_cc_par par;
} ubp_cc_sets[] = {
	/* the DCQCN paper's, for links of 40 Gb/s */
	{ "paper40g",
	  { .max_kbps = 40000000,
	    .min_kbps = 1000,
	    .start_part = 1000,
	    .burst_us = 50,
	    .cnp_us = 50,
	    .cut_shift = 1,
	    .light_shift = 2,
	    .g = 4,
	    .alpha0 = 1024,
	    .alpha_us = 55,
	    .rise_us = 55,
	    .rise_bytes = 10000000,
	    .stages = 5,
	    .ai_kbps = 40000,
	    .hai_kbps = 40000,
	    .hai_grow = 1,
	    UBP_CC_WINDOWS } },
	/* ns-3's UB model */
	{ "ns3",
	  { .max_kbps = 400000000,
	    .min_kbps = 100,
	    .start_part = 1000,
	    .burst_us = 50,
	    .cnp_us = 50,
	    .cut_shift = 1,
	    .light_shift = 2,
	    .g = 4,
	    .alpha0 = 1024,
	    .alpha_us = 55,
	    .rise_us = 55,
	    .rise_bytes = 10u << 20,
	    .stages = 5,
	    .ai_kbps = 40000,
	    .hai_kbps = 100000,
	    UBP_CC_WINDOWS } },
	/* as a ConnectX comes, by NVIDIA's documentation */
	{ "mlx5",
	  { .max_kbps = 100000000,
	    .min_kbps = 1000,
	    .start_part = 1000,
	    .burst_us = 50,
	    .cnp_us = 4,
	    .cut_us = 4,
	    .cut_shift = 1,
	    .light_shift = 2,
	    .g = 5,
	    .alpha0 = 1023,
	    .alpha_us = 1,
	    .rise_us = 300,
	    .rise_bytes = 32767,
	    .stages = 1,
	    .ai_kbps = 5000,
	    .hai_kbps = 50000,
	    UBP_CC_WINDOWS } },
	/*
	 * One cut and one step a round trip, increases in parts of the link: for paths of any
	 * length, and for software, whose round trips are longer than what they cross.
	 */
	{ "scaled",
	  { .max_kbps = 10000000,
	    .min_kbps = 1000,
	    .start_part = 50,
	    .burst_us = 50,
	    .cnp_us = 50,
	    .cnp_rtt = 2,
	    .cut_rtt = 16,
	    .cut_shift = 1,
	    .light_shift = 2,
	    .g = 16,
	    .alpha0 = 1024,
	    .alpha_us = 55,
	    .alpha_rtt = 16,
	    .rise_us = 55,
	    .rise_rtt = 16,
	    .rise_bytes = 10000000,
	    .stages = 5,
	    .ai_part = 5,
	    .hai_part = 50,
	    UBP_CC_WINDOWS } },
};

static const char *const ubp_cc_names[] = {
	[UB_CC_NONE] = "none",
	[UB_CC_DCQCN] = "dcqcn",
	[UB_CC_LDCP] = "ldcp",
	[UB_CC_CAQM] = "caqm",
};

const char *ubp_cc_name(u32 alg)
{
	return alg < ARRAY_SIZE(ubp_cc_names) ? ubp_cc_names[alg] : NULL;
}

/* Is @name the @len characters at @text? */
static bool ubp_cc_is(const char *name, const char *text, u32 len)
{
	u32 i;

	for (i = 0; i < len && name[i]; i++)
		if (name[i] != text[i])
			return false;
	return i == len && !name[i];
}

void ubp_cc_defaults(struct ubp_cc_conf *c)
{
	c->alg = UB_CC_NONE;
	c->par = ubp_cc_sets[ARRAY_SIZE(ubp_cc_sets) - 1].par;
}

int ubp_cc_set(struct ubp_cc_par *par, const char *name, u32 len)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ubp_cc_sets); i++)
		if (ubp_cc_is(ubp_cc_sets[i].name, name, len)) {
			*par = ubp_cc_sets[i].par;
			return 0;
		}
	return -ENOENT;
}

static u32 *ubp_cc_field(struct ubp_cc_par *par, const struct ubp_cc_param *p)
{
	return (u32 *)((u8 *)par + p->off);
}

int ubp_cc_param_set(struct ubp_cc_par *par, const char *name, u32 len, u32 value)
{
	u32 i;

	for (i = 0; i < UBP_CC_PARAMS; i++) {
		const struct ubp_cc_param *p = &ubp_cc_params[i];

		if (!ubp_cc_is(p->name, name, len))
			continue;
		if (value < p->least || value > p->most)
			return -ERANGE;
		*ubp_cc_field(par, p) = value;
		return 0;
	}
	return -ENOENT;
}

bool ubp_cc_par_ok(const struct ubp_cc_par *par)
{
	struct ubp_cc_par p = *par;
	u32 i;

	for (i = 0; i < UBP_CC_PARAMS; i++) {
		u32 v = *ubp_cc_field(&p, &ubp_cc_params[i]);

		if (v < ubp_cc_params[i].least || v > ubp_cc_params[i].most)
			return false;
	}
	return p.min_kbps <= p.max_kbps && p.cwd0 <= p.cwd_max;
}

/* Characters up to one of the three that end a word, or the end */
static u32 ubp_cc_word(const char *p)
{
	u32 n = 0;

	while (p[n] && p[n] != ':' && p[n] != ',' && p[n] != '=')
		n++;
	return n;
}

static int ubp_cc_number(const char *p, u32 len, u32 *value)
{
	u64 v = 0;
	u32 i;

	if (!len || len > 10)
		return -EINVAL;
	for (i = 0; i < len; i++) {
		if (p[i] < '0' || p[i] > '9')
			return -EINVAL;
		v = v * 10 + (u32)(p[i] - '0');
	}
	*value = (u32)v;
	return v >> 32 ? -ERANGE : 0;
}

/* Reads NAME=VALUE at *@text and moves behind it */
static int ubp_cc_parse_param(struct ubp_cc_par *par, const char **text)
{
	const char *name = *text, *value;
	u32 len = ubp_cc_word(name), digits, v;
	int err;

	if (name[len] != '=')
		return -EINVAL;
	value = name + len + 1;
	digits = ubp_cc_word(value);
	err = ubp_cc_number(value, digits, &v);
	if (err)
		return err;
	*text = value + digits;
	return ubp_cc_param_set(par, name, len, v);
}

static int ubp_cc_parse_alg(struct ubp_cc_conf *c, const char *text, u32 len)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ubp_cc_names); i++)
		if (ubp_cc_names[i] && ubp_cc_is(ubp_cc_names[i], text, len)) {
			c->alg = i;
			return 0;
		}
	return len ? -ENOENT : -EINVAL;
}

int ubp_cc_parse(struct ubp_cc_conf *c, const char *text)
{
	struct ubp_cc_conf n;
	u32 len = ubp_cc_word(text);
	int err;

	ubp_cc_defaults(&n);
	err = ubp_cc_parse_alg(&n, text, len);
	text += len;
	if (!err && *text == ':') {
		text++;
		len = ubp_cc_word(text);
		err = ubp_cc_set(&n.par, text, len);
		text += len;
	}
	while (!err && *text == ',') {
		text++;
		err = ubp_cc_parse_param(&n.par, &text);
	}
	if (err)
		return err;
	if (*text)
		return -EINVAL;
	if (!ubp_cc_par_ok(&n.par))
		return -ERANGE;
	*c = n;
	return 0;
}

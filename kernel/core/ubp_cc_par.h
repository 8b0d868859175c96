/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What congestion control is set to: algorithm, and parameters by name with their
 * ranges (docs/decisions/0037). One copy for each device, which its channels read.
 */
#ifndef UBP_CC_PAR_H
#define UBP_CC_PAR_H

#include "ubp_os.h"
#include "ub_wire.h"

/**
 * struct ubp_cc_par - parameters, all of them in ubp_cc_params[] with their ranges
 * @max_kbps, @min_kbps: rate of the link, least rate of a channel
 * @start_part: rate in the beginning, 1/1000 of @max_kbps; it doubles with each step up
 *	until the first cut
 * @burst_us: what a sender may be late, and make good at once
 * @cnp_us, @cnp_rtt: receiver: least time between two CNPs of a channel
 * @cut_us, @cut_rtt: sender: least time between two cuts of the rate
 * @cut_shift, @light_shift: a cut takes alpha / 2^shift of the rate, severe and light
 * @g: weight of a mark in alpha, 1/1024
 * @alpha0: alpha in the beginning, 1/1024
 * @alpha_us, @alpha_rtt: alpha sinks after such a time without a CNP
 * @rise_us, @rise_rtt, @rise_bytes: time and bytes between two steps up
 * @stages: F, steps of fast recovery
 * @ai_kbps, @hai_kbps: additive and hyper increase
 * @ai_part, @hai_part: the same in 1/1000 of @max_kbps
 * @hai_grow: 1: the n-th step of hyper increase is n times as high
 * @cwd0, @cwd_max: LDCP, CAQM: congestion window in the beginning and at most, bytes
 * @alpha: LDCP: what is added in a round trip, 1/16 of an MTU
 * @beta: LDCP: 1/2^beta of the marked bytes are taken away
 * @gamma: LDCP: least window, MTU/2^gamma; one packet may always be under way
 * @caqm_alpha: CAQM: what a window asks for in avoidance, 1/16 of an MTU
 * @caqm_beta: CAQM: a mark takes away MTU/2^beta
 * @caqm_gamma: CAQM: as @gamma
 * @caqm_theta: CAQM: round trips without mark or refusal until slow start comes back
 *
 * Of times in microseconds and those in 1/16 of the measured round trip the longer one
 * counts, of rates in kb/s and parts of the link's the higher one.
 */
struct ubp_cc_par {
	u32 max_kbps;
	u32 min_kbps;
	u32 start_part;
	u32 burst_us;
	u32 cnp_us;
	u32 cnp_rtt;
	u32 cut_us;
	u32 cut_rtt;
	u32 cut_shift;
	u32 light_shift;
	u32 g;
	u32 alpha0;
	u32 alpha_us;
	u32 alpha_rtt;
	u32 rise_us;
	u32 rise_rtt;
	u32 rise_bytes;
	u32 stages;
	u32 ai_kbps;
	u32 ai_part;
	u32 hai_kbps;
	u32 hai_part;
	u32 hai_grow;
	u32 cwd0;
	u32 cwd_max;
	u32 alpha;
	u32 beta;
	u32 gamma;
	u32 caqm_alpha;
	u32 caqm_beta;
	u32 caqm_gamma;
	u32 caqm_theta;
};

/* What channels get that are told nothing else */
struct ubp_cc_conf {
	u32 alg; /* enum ub_cc */
	struct ubp_cc_par par;
};

struct ubp_cc_param {
	const char *name;
	u32 off; /* in struct ubp_cc_par */
	u32 least;
	u32 most;
};

/* How bad it is on the way, of a packet */
enum ubp_cc_level { UBP_CC_CLEAR = 0, UBP_CC_LIGHT = 1, UBP_CC_SEVERE = 2 };

#define UBP_CC_PARAMS 32u

extern const struct ubp_cc_param ubp_cc_params[UBP_CC_PARAMS];

/* Algorithms that exist here */
static inline bool ubp_cc_known(u32 alg)
{
	return alg == UB_CC_NONE || alg == UB_CC_DCQCN || alg == UB_CC_LDCP || alg == UB_CC_CAQM;
}

/* "none", "dcqcn", "ldcp", "caqm"; NULL for others */
const char *ubp_cc_name(u32 alg);

/* No algorithm, parameters of the set "scaled" */
void ubp_cc_defaults(struct ubp_cc_conf *c);
/* A named set: "paper40g", "ns3", "mlx5", "scaled"; 0 or -ENOENT */
int ubp_cc_set(struct ubp_cc_par *par, const char *name, u32 len);
/* One parameter; 0, -ENOENT: no such name, -ERANGE */
int ubp_cc_param_set(struct ubp_cc_par *par, const char *name, u32 len, u32 value);
/* Every parameter in its range, and none contradicts another */
bool ubp_cc_par_ok(const struct ubp_cc_par *par);

/**
 * ubp_cc_parse - settings as people write them
 * @text: ALGORITHM[:SET][,NAME=VALUE]..., like dcqcn:paper40g,ai_kbps=20000
 *
 * @c is changed only when all of it makes sense.
 *
 * Return: 0; -EINVAL: not of this form; -ENOENT: no such algorithm, set or parameter;
 * -ERANGE: a value out of its range, or least and most contradict each other.
 */
int ubp_cc_parse(struct ubp_cc_conf *c, const char *text);

#endif /* UBP_CC_PAR_H */

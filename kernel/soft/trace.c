// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#define CREATE_TRACE_POINTS
#include "soft.h"
#include "trace.h"

// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Does one thing wrong on purpose when it is loaded, so that a test can see
 * that the debug kernel and the harness notice it: fault=leak, uaf or locks.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

static char *fault = "none";
module_param(fault, charp, 0444);
MODULE_PARM_DESC(fault, "none, leak, uaf or locks");

static DEFINE_SPINLOCK(first_lock);
static DEFINE_SPINLOCK(second_lock);
static u8 sink;

static noinline void leak_memory(void)
{
	u8 *data = kmalloc(100, GFP_KERNEL);

	/* The only pointer dies with this frame. */
	if (data)
		WRITE_ONCE(sink, READ_ONCE(data[0]));
}

static noinline void use_after_free(void)
{
	u8 *data = kmalloc(32, GFP_KERNEL);

	kfree(data);
	if (data)
		WRITE_ONCE(sink, READ_ONCE(data[0]));
}

static noinline void invert_locks(void)
{
	spin_lock(&first_lock);
	spin_lock(&second_lock);
	spin_unlock(&second_lock);
	spin_unlock(&first_lock);

	spin_lock(&second_lock);
	spin_lock(&first_lock);
	spin_unlock(&first_lock);
	spin_unlock(&second_lock);
}

static int __init probe_init(void)
{
	if (!strcmp(fault, "leak"))
		leak_memory();
	else if (!strcmp(fault, "uaf"))
		use_after_free();
	else if (!strcmp(fault, "locks"))
		invert_locks();
	else if (strcmp(fault, "none"))
		return -EINVAL;
	return 0;
}

static void __exit probe_exit(void) {}

module_init(probe_init);
module_exit(probe_exit);
MODULE_DESCRIPTION("faults on purpose, to test the test harness");
MODULE_LICENSE("Dual BSD/GPL");

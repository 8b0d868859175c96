// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * debugfs: uboe/strays, and for each device uboe/NAME/{impair,host,core}. NAME
 * is the device's name when it was made.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "soft.h"
#include "impair.h"

static struct dentry *uboe_debugfs;

static const char *const uboe_impair_names[UBOE_IS_MAX] = {
	[UBOE_IS_PACKETS] = "packets",	     [UBOE_IS_LOST] = "lost",
	[UBOE_IS_DUPLICATED] = "duplicated", [UBOE_IS_REORDERED] = "reordered",
	[UBOE_IS_CORRUPTED] = "corrupted",   [UBOE_IS_DELAYED] = "delayed",
	[UBOE_IS_OVERFLOW] = "overflow",
};

static const char *const uboe_drop_names[UBOE_SD_MAX] = {
	[UBOE_SD_NO_ROUTE] = "no_route",
	[UBOE_SD_NO_MEMORY] = "no_memory",
	[UBOE_SD_GSO] = "gso",
	[UBOE_SD_FOREIGN] = "foreign",
};

static int uboe_impair_show(struct seq_file *m, void *unused)
{
	struct uboe_impair *im = m->private;
	struct uboe_impair_cfg c;
	u64 stat[UBOE_IS_MAX];
	int i;

	spin_lock_bh(&im->lock);
	c = im->cfg;
	memcpy(stat, im->stat, sizeof(stat));
	spin_unlock_bh(&im->lock);
	seq_printf(m, "loss=%u dup=%u reorder=%u corrupt=%u delay_us=%u seed=%llu\n", c.loss, c.dup,
		   c.reorder, c.corrupt, c.delay_us, c.seed);
	for (i = 0; i < UBOE_IS_MAX; i++)
		seq_printf(m, "%s %llu\n", uboe_impair_names[i], stat[i]);
	return 0;
}

static int uboe_impair_open(struct inode *inode, struct file *file)
{
	return single_open(file, uboe_impair_show, inode->i_private);
}

static ssize_t uboe_impair_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	struct uboe_impair *im = ((struct seq_file *)file->private_data)->private;
	struct uboe_impair_cfg cfg;
	char *text;
	int err;

	if (len > 256)
		return -EINVAL;
	text = memdup_user_nul(buf, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	spin_lock_bh(&im->lock);
	cfg = im->cfg;
	spin_unlock_bh(&im->lock);
	err = uboe_impair_parse(text, &cfg);
	kfree(text);
	if (err)
		return err;
	uboe_impair_set(im, &cfg);
	return len;
}

static const struct file_operations uboe_impair_fops = {
	.owner = THIS_MODULE,
	.open = uboe_impair_open,
	.read = seq_read,
	.write = uboe_impair_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static int uboe_host_show(struct seq_file *m, void *unused)
{
	struct uboe_soft *sf = m->private;
	u64 sum;
	int cpu, i;

	seq_printf(m, "netdev %s\n", sf->ndev->name);
	seq_printf(m, "out %d\n", uboe_tx_outstanding(sf));
	seq_printf(m, "out_shared %d\n", atomic_read(&sf->out));
	seq_printf(m, "out_limit %d\n", sf->out_limit);
	seq_printf(m, "waiting %d\n", !list_empty_careful(&sf->waiters));
	for (i = 0; i < UBOE_SD_MAX; i++) {
		sum = 0;
		for_each_possible_cpu(cpu)
			sum += READ_ONCE(per_cpu_ptr(sf->cpu, cpu)->drops[i]);
		seq_printf(m, "%s %llu\n", uboe_drop_names[i], sum);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(uboe_host);

static int uboe_core_show(struct seq_file *m, void *unused)
{
	struct uboe_soft *sf = m->private;
	u32 i;

	for (i = 0; i < UBP_S_MAX; i++)
		seq_printf(m, "%s %llu\n", ubp_stat_name(i), uboe_soft_stat(sf->ud, i));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(uboe_core);

static int uboe_strays_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "%llu\n", uboe_rx_strays());
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(uboe_strays);

/* The files go before the device is stopped, debugfs waits for readers */
void uboe_debugfs_add(struct uboe_soft *sf, const char *name)
{
	sf->dir = debugfs_create_dir(name, uboe_debugfs);
	debugfs_create_file("impair", 0600, sf->dir, sf->impair, &uboe_impair_fops);
	debugfs_create_file("host", 0400, sf->dir, sf, &uboe_host_fops);
	debugfs_create_file("core", 0400, sf->dir, sf, &uboe_core_fops);
}

void uboe_debugfs_init(void)
{
	uboe_debugfs = debugfs_create_dir("uboe", NULL);
	debugfs_create_file("strays", 0400, uboe_debugfs, NULL, &uboe_strays_fops);
}

void uboe_debugfs_exit(void)
{
	debugfs_remove_recursive(uboe_debugfs);
}

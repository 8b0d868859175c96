// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What an administrator asks of the device as a whole: files of /sys/class/infiniband/NAME */
#include <linux/capability.h>
#include <linux/sysfs.h>
#include "verbs.h"

static struct uboe_dev *uboe_of_device(struct device *device)
{
	return rdma_device_to_drv_device(device, struct uboe_dev, ib);
}

/* Partition, and bit 24 for low privilege (docs/decisions/0032) */
static ssize_t partition_show(struct device *device, struct device_attribute *attr, char *buf)
{
	struct uboe_entity_ctx ctx;
	int ret;

	ret = uboe_cmd_query(uboe_of_device(device), UBOE_MBOX_ENTITY, 0, &ctx, sizeof(ctx));
	return ret ?: sysfs_emit(buf, "0x%x\n", le32_to_cpu(ctx.npi));
}

static ssize_t partition_store(struct device *device, struct device_attribute *attr,
			       const char *buf, size_t len)
{
	struct uboe_entity_ctx ctx = {};
	u32 npi;
	int ret;

	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	ret = kstrtou32(buf, 0, &npi);
	if (ret)
		return ret;
	ctx.npi = cpu_to_le32(npi);
	ret = uboe_cmd_modify(uboe_of_device(device), UBOE_MBOX_ENTITY, 0, &ctx, sizeof(ctx),
			      UBOE_EM_NPI);
	return ret ?: len;
}
static DEVICE_ATTR_RW(partition);

static ssize_t reset_store(struct device *device, struct device_attribute *attr, const char *buf,
			   size_t len)
{
	struct uboe_entity_ctx ctx = {};
	bool yes;
	int ret;

	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	ret = kstrtobool(buf, &yes);
	if (ret || !yes)
		return -EINVAL;
	ret = uboe_cmd_modify(uboe_of_device(device), UBOE_MBOX_ENTITY, 0, &ctx, sizeof(ctx),
			      UBOE_EM_RESET);
	return ret ?: len;
}
static DEVICE_ATTR_WO(reset);

/* Kind of network at the port: Ethernet, or a UB domain (docs/decisions/0038) */
static ssize_t domain_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n",
			  uboe_soft_native(uboe_of_device(device)) ? "ub" : "ethernet");
}

static ssize_t domain_store(struct device *device, struct device_attribute *attr, const char *buf,
			    size_t len)
{
	bool ub = sysfs_streq(buf, "ub");
	int ret;

	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	if (!ub && !sysfs_streq(buf, "ethernet"))
		return -EINVAL;
	ret = uboe_cmd_set_native(uboe_of_device(device), ub);
	return ret ?: len;
}
static DEVICE_ATTR_RW(domain);

static struct attribute *uboe_entity_attrs[] = {
	&dev_attr_domain.attr,
	&dev_attr_partition.attr,
	&dev_attr_reset.attr,
	NULL,
};

const struct attribute_group uboe_entity_group = {
	.attrs = uboe_entity_attrs,
};

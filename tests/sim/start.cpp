// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
int ubsim_main(int argc, char **argv);

int main(int argc, char **argv)
{
	return ubsim_main(argc, argv);
}

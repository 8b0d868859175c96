// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "log.hpp"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <urma/urma_api.h>

namespace uboe::urma {

namespace {

urma_vlog_level_t first_level()
{
	const char *env = std::getenv("URMA_LOG_LEVEL"); // 0 to 7

	return env && *env >= '0' && *env <= '7' ? static_cast<urma_vlog_level_t>(*env - '0') :
						   URMA_VLOG_LEVEL_WARNING;
}

std::atomic<urma_vlog_level_t> level{first_level()};
std::atomic<urma_log_cb_t> callback{nullptr};
std::atomic<urma_loc_log_cb> located_callback{nullptr};
thread_local char tag[64];

void write(urma_vlog_level_t at, const char *function, const char *format, va_list args)
{
	char text[512];

	int n = std::snprintf(text, sizeof(text), "%s%s%s: ", tag, *tag ? " " : "", function);
	std::vsnprintf(text + n, sizeof(text) - static_cast<std::size_t>(n), format, args);
	if (auto f = located_callback.load())
		f(at, __FILE__, function, __LINE__, text);
	else if (auto g = callback.load())
		g(at, text);
	else
		std::fprintf(stderr, "urma: %s\n", text);
}

} // namespace

void log(urma_vlog_level_t at, const char *function, const char *format, ...)
{
	va_list args;

	if (at > level.load())
		return;
	va_start(args, format);
	write(at, function, format, args);
	va_end(args);
}

int fail(int status, const char *function, const char *format, ...)
{
	va_list args;

	if (URMA_VLOG_LEVEL_ERR <= level.load()) {
		va_start(args, format);
		write(URMA_VLOG_LEVEL_ERR, function, format, args);
		va_end(args);
	}
	errno = status;
	return status;
}

} // namespace uboe::urma

using namespace uboe::urma;

urma_status_t urma_register_log_func(urma_log_cb_t func)
{
	if (!func)
		return URMA_EINVAL;
	callback = func;
	return URMA_SUCCESS;
}

urma_status_t urma_register_loc_log_func(urma_loc_log_cb func)
{
	if (!func)
		return URMA_EINVAL;
	located_callback = func;
	return URMA_SUCCESS;
}

urma_status_t urma_unregister_log_func(void)
{
	callback = nullptr;
	located_callback = nullptr;
	return URMA_SUCCESS;
}

urma_vlog_level_t urma_log_get_level(void)
{
	return level;
}

void urma_log_set_level(urma_vlog_level_t to)
{
	if (to < URMA_VLOG_LEVEL_MAX)
		level = to;
}

const char *urma_log_get_thread_tag(void)
{
	return tag;
}

void urma_log_set_thread_tag(const char *to)
{
	std::snprintf(tag, sizeof(tag), "%s", to ? to : "");
}

/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#include <sys/socket.h>
#include <sys/un.h>

#include <rte_eal.h>

#include "t.h"
#include "t_tel.h"

#define REPLY_SIZE (64 << 10)

int
t_tel_open(void)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	char greeting[1024];
	int fd;

	T_LT(snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/dpdk_telemetry.v2",
			rte_eal_get_runtime_dir()), (int)sizeof(sun.sun_path));
	fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	T_GE(fd, 0);
	T_EQ(connect(fd, (const struct sockaddr *)&sun, sizeof(sun)), 0);
	T_GT(recv(fd, greeting, sizeof(greeting), 0), 0);
	return fd;
}

json_t *
t_tel_ask(int fd, const char *question)
{
	static __thread char buf[REPLY_SIZE];
	json_error_t error;
	json_t *reply, *answer;
	ssize_t len;

	T_EQ(send(fd, question, strlen(question), 0), (ssize_t)strlen(question));
	len = recv(fd, buf, sizeof(buf) - 1, 0);
	if (len <= 0)
		T_FAIL("%s: no reply", question);
	buf[len] = '\0';
	reply = json_loads(buf, 0, &error);
	if (reply == NULL)
		T_FAIL("%s: %s: %s", question, error.text, buf);
	answer = json_object_iter_value(json_object_iter(reply));
	if (answer == NULL)
		T_FAIL("%s: %s", question, buf);
	json_incref(answer);
	json_decref(reply);
	return answer;
}

const json_t *
t_tel_member(const json_t *o, const char *key)
{
	const json_t *val = json_object_get(o, key);

	if (val == NULL)
		T_FAIL("no \"%s\" in %s", key, json_dumps(o, 0));
	return val;
}

void
t_tel_is_text(const json_t *o, const char *key, const char *want)
{
	T_STR_EQ(json_string_value(t_tel_member(o, key)), want);
}

json_int_t
t_tel_number(const json_t *o, const char *key)
{
	T_CHECK(json_is_integer(t_tel_member(o, key)));
	return json_integer_value(t_tel_member(o, key));
}

json_int_t
t_tel_first(int fd, const char *question, size_t nb)
{
	json_t *list = t_tel_ask(fd, question);
	json_int_t first = -1;

	T_CHECK(json_is_array(list));
	if (json_array_size(list) != nb)
		T_FAIL("%s: %s", question, json_dumps(list, 0));
	if (nb > 0)
		first = json_integer_value(json_array_get(list, 0));
	json_decref(list);
	return first;
}

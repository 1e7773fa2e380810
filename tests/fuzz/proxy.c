/*
 * proxy.c - fuzz target: the input is what a proxy answers; its first byte says to which question.
 *
 * An answer that is whole ends inside it, means the same with less behind it, and nothing before its end; none is
 * waited for beyond what one may have.
 */
#include "fuzz.h"

#include <string.h>

#include "network/proxy.h"

static int hear(struct sb_proxy_talk *talk, const uint8_t *data, size_t size, size_t *out_end)
{
	uint8_t *copy = malloc(size + !size); /* so that its end is where a sanitizer sees it */
	int status;

	CHECK(copy);
	if (size)
		memcpy(copy, data, size);
	status = sb_proxy_hear(talk, copy, size, out_end);
	free(copy);
	return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sb_proxy proxy = {.kind = SB_PROXY_HTTP};
	struct sb_proxy_talk talk = {.proxy = &proxy}, again;
	size_t end = 0, same = 0;
	int status;

	if (!size)
		return 0;
	proxy.login.length = data[0] & 4;
	if (data[0] & 3) {
		proxy.kind = SB_PROXY_SOCKS;
		talk.step = (enum sb_socks_step)((data[0] & 3) - 1);
	}
	data++;
	size--;
	again = talk;
	status = hear(&talk, data, size, &end);
	if (status <= 0) {
		CHECK(status < 0 || size < SB_PROXY_ANSWER_MAX);
		CHECK(talk.step == again.step);
		return 0;
	}
	CHECK(end && end <= size);
	CHECK(status < SB_PROXY_NEXT ? talk.step == again.step : talk.step > again.step);
	CHECK(status < 10 || (status >= 100 && status <= SB_PROXY_NEXT));
	CHECK((sb_proxy_error(status) == 0) == (status >= 200 && status < 300));
	talk = again;
	CHECK(hear(&talk, data, end, &same) == status && same == end);
	CHECK(end > SB_PROXY_ANSWER_MAX || hear(&again, data, end - 1, &same) == 0);
	return 0;
}

/*
 * The directory /proc/PID/task has one link for each thread, and two of its own.  So one look
 * tells whether a process has several, which share a current directory.
 */
#include "fact.h"

#include <pthread.h>

static int links(void)
{
	struct stat info;

	return stat("/proc/self/task", &info) == 0 ? (int)info.st_nlink : -1;
}

static void *wait_for_end(void *argument)
{
	pause();
	return argument;
}

int main(void)
{
	pthread_t thread;

	check(links() == 3, "a process with one thread: three links");
	if (pthread_create(&thread, NULL, wait_for_end, NULL) != 0)
		skip_all("no threads");
	check(links() == 4, "with two: four");
	return fact_done();
}

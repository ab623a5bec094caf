/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/** question_possible() - whether there is a person at a terminal to ask */
bool question_possible(void);

/** question_ask() - ask for a yes or no on the terminal; anything but "y" or "yes" is no */
bool question_ask(const char *text);

/* SPDX-License-Identifier: MIT */
#pragma once

/* Acts that belong to a person and not to a program that works for one: trusting a bundle, raising a posture, a grant wider than
 * one call (design 4.2).
 * How they are confirmed is the configuration's [trust] confirm. What it protects against is an agent that trusts for
 * itself over this bus; not a program of the same user that reaches around it. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "service/confirm.h"

#define PERSONAL_ACTION "org.codewhale.extensions.trust" /* polkit's id of all of them */

typedef struct Plugin Plugin;
typedef struct Service Service;

typedef struct PersonalAct {
        const char *client; /* unique name of who wants it */
        const char *client_exe, *client_unit; /* NULL or what runs there */
        pid_t client_pid;   /* for polkit; never decides alone */
        uint64_t client_start; /* when that process began, in clock ticks: with the pid it names one process */
        int client_pidfd;   /* -EBADF for none */
        uid_t client_uid;
        const char *action; /* polkit's action id */
        const char *id;      /* what records of it go by */
        const char *plugin;  /* it is about this one, or */
        const char *session; /* this session; NULL */
        bool answers_card;  /* the caller is an approver who answers a card with it: where no polkit is there, that is the confirmation */
        bool has_token;     /* the caller brought the token of the review, which [trust] confirm = "token" takes */
        const char *title;  /* one line: what would happen */
        const char *text;   /* what exactly, for a person to judge; lines */
} PersonalAct;

/* @confirmed_by: "token", "polkit" or "approver:<program and unique name>"; NULL when nobody confirmed it, then the error says why. */
typedef void (*PersonalActDone)(
                const char *confirmed_by, const char *error_name, const char *error_message, void *userdata);

/* Asks polkit. @answer comes once, from the loop: 1 allowed, 0 refused, -EHOSTUNREACH when there is no polkit to ask,
 * -ECANCELED when the question was taken back, or another negative errno; silence and errors never allow. Everything in @act is
 * copied as far as it is needed later. */
typedef void (*PolkitAnswer)(int r, const char *details, void *userdata);
typedef int (*PolkitAsk)(const PersonalAct *act, PolkitAnswer answer, void *answer_userdata, void *userdata);

/* Which questions: the others are NULL. */
typedef struct PersonalActMatch {
        const char *id, *client, *plugin, *session;
} PersonalActMatch;

/* Takes questions back; returns how many there were. */
typedef unsigned (*PolkitForget)(const PersonalActMatch *which, void *userdata);

/** personal_act_confirm() - have it confirmed; @done comes once, possibly before this returns */
void personal_act_confirm(Service *service, const PersonalAct *act, PersonalActDone done, void *userdata);

/** personal_act_cancel() - take back one question (ERROR_CANCELLED or ERROR_WITHDRAWN); false when it is not asked any more */
bool personal_act_cancel(Service *service, const char *id);

/* What was asked about is not so any more, or nobody wants it now: the question is taken back (ERROR_WITHDRAWN), wherever it was
 * asked. Cards of a client or session are the table's (approval_table_withdraw_requester(), ..._session()). */
void personal_act_client_gone(Service *service, const char *client);
void personal_act_session_ended(Service *service, const char *session);
void personal_act_plugin_changed(Service *service, const Plugin *plugin);

/* SPDX-License-Identifier: MIT */
#pragma once

/* Something that the service does for a caller and that takes a while: enabling a plugin until its entries are active,
 * stopping one until its host is gone, the doctor's look-round. It is no call of a tool; when its caller leaves, it goes on and
 * nobody hears the end, but for questions to a person, which are taken back. With a handle-token its caller hears how far it is, and
 * may take back what is not done yet. */

#include "dbus/act-record.h"
#include "dbus/face.h"
#include "dbus/reply.h"
#include "dbus/request-handle.h"
#include "service/personal-act.h"
#include "service/service.h"

typedef struct BusAct {
        BusServer *server; /* NULL when the server ended first */
        Reply *reply;      /* NULL likewise: it was answered then */
        ActRecord *record; /* what is written down when it is done; NULL for nothing */
        RequestHandle *handle; /* NULL: it was given no handle-token */
        uint64_t card;     /* it answers this one when it is confirmed (wide-answer.h); 0: none */
        bool closed;       /* its caller closed the request object */
        PluginAct *work;   /* what is done about a bundle; NULL before that, and for other acts */
} BusAct;

/** bus_act_new() - answer @m when the act is done; ERROR_BUSY as reply_new() */
int bus_act_new(Face *face, Caller *caller, sd_bus_message *m, BusAct **ret, sd_bus_error *reterr);

/** bus_act_show() - have a request object for it; ERROR_INVALID_OPTION for an unusable token. @token NULL: none */
int bus_act_show(BusAct *act, Face *face, Caller *caller, const char *token, sd_bus_error *reterr);

/** bus_act_record() - write it down at its end; returns the record's id, which lives as long as the act */
const char *bus_act_record(BusAct *act, const Caller *caller, const ActSubject *subject);

/** bus_act_withdraw() - it did not begin after all; the handler's error is the answer */
void bus_act_withdraw(BusAct *act);

/** bus_act_done() - a ServiceAnswer: answers without a value or with the error; ends the act */
void bus_act_done(const char *error_name, const char *error_message, void *act);

/** bus_act_report() - a DoctorDone: answers with one string; ends the act */
void bus_act_report(const char *report, void *act);

/** bus_acts_forget() - their caller left */
void bus_acts_forget(BusServer *server, const Caller *caller);

/** bus_acts_abandon() - the server ends: answer all of them now */
void bus_acts_abandon(BusServer *server);

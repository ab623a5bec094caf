/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "common/limits.h"
#include "service/approval-private.h"

/* How many outcomes of closed cards are remembered, so that a late answer hears what happened. */
#define CLOSED_KEPT 4096u

typedef struct ClosedCard {
        uint64_t id;
        ApprovalOutcome outcome;
} ClosedCard;

struct ApprovalTable {
        sd_event *event;
        uint64_t last_id;
        GPtrArray *open; /* in the order of ids */
        GHashTable *by_id;  /* uint64_t in the card -> borrowed Approval */
        GHashTable *counts; /* who asks and what is asked about: "c:NAME", "p:PLUGIN" -> number of open cards */
        GHashTable *approvers; /* unique name, in the value -> Approver */
        ClosedCard closed[CLOSED_KEPT]; /* by id modulo */
        const ApprovalEvents *events;
        void *userdata;
};

ApprovalTable *approval_table_new(sd_event *event) {
        ApprovalTable *table = g_new0(ApprovalTable, 1);

        table->event = sd_event_ref(event);
        table->open = g_ptr_array_new_with_free_func(approval_free);
        table->by_id = g_hash_table_new(g_int64_hash, g_int64_equal);
        table->counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        table->approvers = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, approver_free);
        return table;
}

ApprovalTable *approval_table_free(ApprovalTable *table) {
        if (!table)
                return NULL;

        while (table->open->len > 0)
                approval_withdraw(g_ptr_array_index(table->open, 0), "the service is stopping");
        g_ptr_array_unref(table->open);
        g_hash_table_unref(table->by_id);
        g_hash_table_unref(table->counts);
        g_hash_table_unref(table->approvers);
        sd_event_unref(table->event);
        g_free(table);
        return NULL;
}

void approval_table_set_events(ApprovalTable *table, const ApprovalEvents *events, void *userdata) {
        table->events = events;
        table->userdata = userdata;
}

/* ---- how many cards somebody has ---- */

static char *count_key(char letter, const char *name) {
        return g_strdup_printf("%c:%s", letter, name);
}

static unsigned count_of(const ApprovalTable *table, char letter, const char *name) {
        g_autofree char *key = name ? count_key(letter, name) : NULL;

        return key ? GPOINTER_TO_UINT(g_hash_table_lookup(table->counts, key)) : 0;
}

static void count_change(ApprovalTable *table, char letter, const char *name, int by) {
        unsigned n = count_of(table, letter, name) + (unsigned) by;

        if (!name)
                return;
        if (n > 0)
                g_hash_table_insert(table->counts, count_key(letter, name), GUINT_TO_POINTER(n));
        else {
                g_autofree char *key = count_key(letter, name);

                g_hash_table_remove(table->counts, key);
        }
}

static void table_add(ApprovalTable *table, Approval *approval) {
        g_ptr_array_add(table->open, approval);
        g_hash_table_insert(table->by_id, &approval->id, approval);
        count_change(table, 'c', approval->asker.name, 1);
        count_change(table, 'p', approval->plugin, 1);
}

static int compare_ids(const void *a, const void *b) {
        const Approval *left = *(Approval *const *) a, *right = *(Approval *const *) b;

        return (left->id > right->id) - (left->id < right->id);
}

/* Cards stand in the order of their ids. */
static unsigned table_position(const ApprovalTable *table, const Approval *approval) {
        void **place = bsearch(&approval, table->open->pdata, table->open->len, sizeof *table->open->pdata, compare_ids);

        assert(place);
        return (unsigned) (place - table->open->pdata);
}

/* The card leaves the table before anyone hears of it: whatever they do, it can't be decided twice. */
static void approval_close(Approval *approval, const ApprovalAnswer *answer) {
        ApprovalTable *table = approval->table;

        if (!g_hash_table_remove(table->by_id, &approval->id))
                return;

        (void) g_ptr_array_steal_index(table->open, table_position(table, approval));
        count_change(table, 'c', approval->asker.name, -1);
        count_change(table, 'p', approval->plugin, -1);
        table->closed[approval->id % CLOSED_KEPT] = (ClosedCard) { approval->id, answer->outcome };
        approval->timer = sd_event_source_disable_unref(approval->timer);
        if (table->events)
                table->events->closed(approval, answer, table->userdata);
        approval->decided(approval, answer, approval->userdata);
        approval_free(approval);
}

void approval_withdraw(Approval *approval, const char *reason) {
        approval_close(approval, &(ApprovalAnswer) { .outcome = APPROVAL_WITHDRAWN, .reason = reason });
}

static int on_timeout(sd_event_source *source, uint64_t usec, void *userdata) {
        (void) source;
        (void) usec;
        approval_close(userdata, &(ApprovalAnswer) { .outcome = APPROVAL_TIMED_OUT });
        return 0;
}

int approval_table_register(ApprovalTable *table, const Actor *who, const char *label, sd_bus_error *reterr) {
        Approver *approver;

        if (!g_hash_table_contains(table->approvers, who->name) && g_hash_table_size(table->approvers) >= APPROVERS_MAX)
                return errors_set(reterr, ERROR_LIMIT_EXCEEDED, "There are %u approvers already, which is the most.", APPROVERS_MAX);

        approver = approver_new(who, label, reterr);
        if (!approver)
                return -EINVAL;

        /* The key of one that is replaced would be the old one's. */
        g_hash_table_replace(table->approvers, approver->who.name, approver);
        if (table->events)
                table->events->approvers_changed(table->userdata);
        return 0;
}

void approval_table_unregister(ApprovalTable *table, const char *client) {
        if (!g_hash_table_remove(table->approvers, client))
                return;

        /* A card that nobody can answer any more would hang for ever. */
        for (size_t i = table->open->len; i > 0; i--) {
                Approval *approval = i <= table->open->len ? g_ptr_array_index(table->open, i - 1) : NULL;

                if (approval && !approval_table_can_ask(table, approval->asker.name))
                        approval_close(approval, &(ApprovalAnswer) { .outcome = APPROVAL_NO_APPROVER });
        }
        if (table->events)
                table->events->approvers_changed(table->userdata);
}

void approval_table_foreach_approver(
                const ApprovalTable *table, void (*on_approver)(const Approver *approver, void *userdata), void *userdata) {
        GHashTableIter iter;
        void *approver;

        g_hash_table_iter_init(&iter, table->approvers);
        while (g_hash_table_iter_next(&iter, NULL, &approver))
                on_approver(approver, userdata);
}

bool approval_table_is_approver(const ApprovalTable *table, const char *client) {
        return g_hash_table_contains(table->approvers, client);
}

bool approval_table_can_ask(const ApprovalTable *table, const char *requester) {
        unsigned n = g_hash_table_size(table->approvers);

        return n > 1 || (n == 1 && !g_hash_table_contains(table->approvers, requester));
}

typedef bool (*ApprovalTest)(const Approval *approval, const char *word);

/* Whoever is told of one may close others, so the place is looked up anew each time. */
static void withdraw_where(ApprovalTable *table, ApprovalTest test, const char *word, const char *reason) {
        for (size_t i = table->open->len; i > 0; i--) {
                Approval *approval = i <= table->open->len ? g_ptr_array_index(table->open, i - 1) : NULL;

                if (approval && test(approval, word))
                        approval_withdraw(approval, reason);
        }
}

static bool is_of_requester(const Approval *approval, const char *requester) {
        return strcmp(approval->asker.name, requester) == 0;
}

static bool is_of_session(const Approval *approval, const char *session) {
        return g_strcmp0(approval->session, session) == 0;
}

static bool is_act_on(const Approval *approval, const char *plugin) {
        return strcmp(approval->kind, APPROVAL_PERSONAL_ACT) == 0 && g_strcmp0(approval->plugin, plugin) == 0;
}

void approval_table_withdraw_requester(ApprovalTable *table, const char *requester) {
        withdraw_where(table, is_of_requester, requester, "the one who asked left");
}

void approval_table_withdraw_session(ApprovalTable *table, const char *session) {
        withdraw_where(table, is_of_session, session, "the session ended");
}

void approval_table_withdraw_acts(ApprovalTable *table, const char *plugin) {
        withdraw_where(table, is_act_on, plugin, "the plugin changed meanwhile");
}

static bool is_of_call(const Approval *approval, const char *call_id) {
        return g_strcmp0(approval->call_id, call_id) == 0;
}

bool approval_table_withdraw_call(ApprovalTable *table, const char *call_id) {
        unsigned before = table->open->len;

        withdraw_where(table, is_of_call, call_id, "the one who asked took it back");
        return table->open->len < before;
}

int approval_open(
                ApprovalTable *table, const ApprovalRequest *request, ApprovalDecided decided, void *userdata, Approval **ret,
                sd_bus_error *reterr) {
        Approval *approval;
        int r;

        if (!approval_table_can_ask(table, request->requester))
                return errors_set(reterr, ERROR_NO_APPROVER,
                                  "This needs a person's approval and no approver is there. "
                                  "Run 'codewhalectl approve --watch' in a terminal and try again.");
        if (table->open->len >= APPROVALS_MAX || count_of(table, 'c', request->requester) >= APPROVALS_PER_CLIENT_MAX ||
            count_of(table, 'p', request->plugin) >= APPROVALS_PER_PLUGIN_MAX)
                return errors_set(reterr, ERROR_LIMIT_EXCEEDED,
                                  "Too many approvals are open already (at most %u, %u of one client, %u about one plugin).",
                                  APPROVALS_MAX, APPROVALS_PER_CLIENT_MAX, APPROVALS_PER_PLUGIN_MAX);

        approval = approval_new(table, ++table->last_id, request, decided, userdata);
        if (request->timeout_msec > 0) {
                r = sd_event_add_time_relative(table->event, &approval->timer, CLOCK_MONOTONIC, request->timeout_msec * 1000, 0,
                                               on_timeout, approval);
                if (r < 0) {
                        approval_free(approval);
                        return r;
                }
        }
        table_add(table, approval);
        *ret = approval;
        if (table->events)
                table->events->opened(approval, table->userdata);
        return 0;
}

/* What to tell somebody who answers a card that is no longer open (AP-04, AP-17). */
static int refuse_closed(const ApprovalTable *table, uint64_t id, sd_bus_error *reterr) {
        const ClosedCard *closed = &table->closed[id % CLOSED_KEPT];

        if (id == 0 || closed->id != id)
                return errors_set(reterr, ERROR_NO_SUCH_APPROVAL, "There is no approval %" G_GUINT64_FORMAT ".", id);

        switch (closed->outcome) {
        case APPROVAL_WITHDRAWN:
        case APPROVAL_NO_APPROVER:
                return errors_set(reterr, ERROR_WITHDRAWN, "Approval %" G_GUINT64_FORMAT " was withdrawn.", id);
        case APPROVAL_TIMED_OUT:
                return errors_set(reterr, ERROR_TIMED_OUT, "Approval %" G_GUINT64_FORMAT " was not answered in time.", id);
        default:
                return errors_set(reterr, ERROR_ALREADY_DECIDED, "Approval %" G_GUINT64_FORMAT " was already decided.", id);
        }
}

int approval_check_answer(
                const ApprovalTable *table, uint64_t id, const Actor *who, const ApprovalChoice *choice, sd_bus_error *reterr) {
        const Approval *approval = approval_table_find(table, id);

        if (!approval_table_is_approver(table, who->name))
                return errors_set(reterr, ERROR_NOT_APPROVER, "Only a registered approver may answer; call Approvals.Register first.");
        if (!approval)
                return refuse_closed(table, id, reterr);
        return approval_choice_check(approval, who, choice, reterr);
}

int approval_answer(
                ApprovalTable *table, uint64_t id, const Actor *who, const ApprovalChoice *choice, sd_bus_error *reterr) {
        ApprovalAnswer answer;
        int r;

        r = approval_check_answer(table, id, who, choice, reterr);
        if (r < 0)
                return r;

        answer = (ApprovalAnswer) {
                .outcome = strcmp(choice->decision, "allow") == 0 ? APPROVAL_ALLOWED : APPROVAL_DENIED,
                .who = who,
                .scope = choice->scope ?: APPROVAL_ONCE,
                .seconds = choice->seconds,
        };
        approval_close(approval_table_find(table, id), &answer);
        return 0;
}

Approval *approval_table_find(const ApprovalTable *table, uint64_t id) {
        return g_hash_table_lookup(table->by_id, &id);
}

unsigned approval_table_count(const ApprovalTable *table) {
        return table->open->len;
}

void approval_table_foreach(const ApprovalTable *table, void (*each)(Approval *approval, void *userdata), void *userdata) {
        for (size_t i = 0; i < table->open->len; i++)
                each(g_ptr_array_index(table->open, i), userdata);
}

/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/errors.h"
#include "dbus/polkit.h"

#define POLKIT_NAME "org.freedesktop.PolicyKit1"
#define POLKIT_PATH "/org/freedesktop/PolicyKit1/Authority"
#define POLKIT_INTERFACE "org.freedesktop.PolicyKit1.Authority"
#define ALLOW_USER_INTERACTION 1u

struct Polkit {
        sd_event *event;
        sd_bus *bus; /* NULL before the first question, and after the connection was lost */
        GPtrArray *questions; /* Question, borrowed */
};

typedef struct Question {
        Polkit *polkit;
        char *id, *client, *plugin, *session;
        PolkitAnswer answer;
        void *userdata;
        sd_bus_slot *slot;
} Question;

Polkit *polkit_new(sd_event *event) {
        Polkit *polkit = g_new0(Polkit, 1);

        polkit->event = sd_event_ref(event);
        polkit->questions = g_ptr_array_new();
        return polkit;
}

static void question_free(Question *question) {
        g_free(question->id);
        g_free(question->client);
        g_free(question->plugin);
        g_free(question->session);
        g_free(question);
}

static void question_end(Question *question, int r, const char *details) {
        g_ptr_array_remove_fast(question->polkit->questions, question);
        sd_bus_slot_unref(question->slot);
        question->answer(r, details, question->userdata);
        question_free(question);
}

Polkit *polkit_free(Polkit *polkit) {
        if (!polkit)
                return NULL;

        while (polkit->questions->len > 0)
                question_end(g_ptr_array_index(polkit->questions, 0), -ECANCELED, NULL);
        g_ptr_array_unref(polkit->questions);
        polkit->bus = sd_bus_close_unref(polkit->bus);
        sd_event_unref(polkit->event);
        g_free(polkit);
        return NULL;
}

/* polkit has no name of its own for this, and what it says is not translated. */
static bool is_unknown_action(const sd_bus_error *error) {
        return sd_bus_error_has_name(error, "org.freedesktop.PolicyKit1.Error.Failed") && error->message &&
                        g_str_has_suffix(error->message, " is not registered");
}

/* There is no polkit, or none that knows our action because its file is not installed. That never allows anything; at most
 * an approver is asked instead. What a caller can bring about, as by dying while polkit looks at it, must not be among these:
 * an agent would then choose who is asked. */
static bool is_absent(const sd_bus_error *error) {
        static const char *const names[] = {
                SD_BUS_ERROR_SERVICE_UNKNOWN, SD_BUS_ERROR_NAME_HAS_NO_OWNER, SD_BUS_ERROR_NO_SERVER, SD_BUS_ERROR_UNKNOWN_OBJECT,
        };

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
                if (sd_bus_error_has_name(error, names[i]))
                        return true;

        return is_unknown_action(error) || g_str_has_prefix(error->name, "org.freedesktop.DBus.Error.Spawn.") ||
                        g_str_has_prefix(error->name, "org.freedesktop.systemd1.");
}

static int on_answer(sd_bus_message *reply, void *userdata, sd_bus_error *reterr) {
        const sd_bus_error *error = sd_bus_message_get_error(reply);
        Question *question = userdata;
        int allowed = false, challenge = false;

        (void) reterr;
        if (error)
                question_end(question, is_absent(error) ? -EHOSTUNREACH : -EPERM, error->message);
        else if (sd_bus_message_enter_container(reply, 'r', "bba{ss}") > 0 && sd_bus_message_read(reply, "bb", &allowed, &challenge) > 0)
                question_end(question, allowed ? 1 : 0, challenge ? "no authentication agent answered" : NULL);
        else
                question_end(question, -EBADMSG, NULL);
        return 0;
}

static int polkit_connect(Polkit *polkit) {
        g_autoptr(sd_bus) bus = NULL;
        int r;

        if (polkit->bus && sd_bus_is_open(polkit->bus) > 0)
                return 0;

        polkit->bus = sd_bus_close_unref(polkit->bus);
        r = sd_bus_open_system(&bus);
        /* Only a machine without a system bus has no polkit. No descriptor left, or no connection, is another matter. */
        if (r == -ENOENT || r == -ECONNREFUSED)
                return -EHOSTUNREACH;
        if (r >= 0)
                r = sd_bus_attach_event(bus, polkit->event, SD_EVENT_PRIORITY_NORMAL);
        if (r < 0)
                return r;

        polkit->bus = g_steal_pointer(&bus);
        return 0;
}

/* On whichever bus we are, the subject is a process: its pidfd where polkit knows it, its pid, start and user where not. */
static int append_subject(sd_bus_message *m, const PersonalAct *act) {
        int r;

        r = sd_bus_message_open_container(m, 'r', "sa{sv}");
        if (r >= 0)
                r = sd_bus_message_append(m, "s", "unix-process");
        if (r >= 0)
                r = sd_bus_message_open_container(m, 'a', "{sv}");
        if (r >= 0)
                r = sd_bus_message_append(m, "{sv}{sv}{sv}", "pid", "u", (uint32_t) act->client_pid, "start-time", "t", act->client_start, "uid", "i",
                                          (int32_t) act->client_uid);
        if (r >= 0 && act->client_pidfd >= 0)
                r = sd_bus_message_append(m, "{sv}", "pidfd", "h", act->client_pidfd);
        if (r >= 0)
                r = sd_bus_message_close_container(m);
        return r < 0 ? r : sd_bus_message_close_container(m);
}

static int polkit_message(Polkit *polkit, const PersonalAct *act, sd_bus_message **ret) {
        g_autoptr(sd_bus_message) m = NULL;
        int r;

        r = sd_bus_message_new_method_call(polkit->bus, &m, POLKIT_NAME, POLKIT_PATH, POLKIT_INTERFACE, "CheckAuthorization");
        if (r >= 0)
                r = append_subject(m, act);
        /* No message of our own here: polkit lets only privileged services replace the action's text. */
        if (r >= 0)
                r = sd_bus_message_append(m, "sa{ss}us", act->action, 0, ALLOW_USER_INTERACTION, act->id);
        if (r < 0)
                return r;

        *ret = g_steal_pointer(&m);
        return 0;
}

int polkit_ask(const PersonalAct *act, PolkitAnswer answer, void *answer_userdata, void *userdata) {
        g_autoptr(sd_bus_message) m = NULL;
        Polkit *polkit = userdata;
        Question *question;
        int r;

        if (act->client_pid <= 0 || act->client_start == 0)
                return -ESRCH;
        r = polkit_connect(polkit);
        if (r >= 0)
                r = polkit_message(polkit, act, &m);
        if (r < 0)
                return r;

        question = g_new0(Question, 1);
        *question = (Question) {
                .polkit = polkit, .id = g_strdup(act->id), .client = g_strdup(act->client), .plugin = g_strdup(act->plugin),
                .session = g_strdup(act->session), .answer = answer, .userdata = answer_userdata,
        };
        /* A person types a password: no time limit but the person's. */
        r = sd_bus_call_async(polkit->bus, &question->slot, m, on_answer, question, UINT64_MAX);
        if (r < 0) {
                question_free(question);
                return r;
        }
        g_ptr_array_add(polkit->questions, question);
        return 0;
}

static bool is_same(const char *mine, const char *wanted) {
        return wanted && g_strcmp0(mine, wanted) == 0;
}

static bool question_is_one(const Question *question, const PersonalActMatch *which) {
        return is_same(question->id, which->id) || is_same(question->client, which->client) ||
                        is_same(question->plugin, which->plugin) || is_same(question->session, which->session);
}

/* The person's dialog goes away. That polkit hears of it is a courtesy: its answer counts for nothing any more. */
static void question_withdraw(Question *question) {
        (void) sd_bus_call_method_async(question->polkit->bus, NULL, POLKIT_NAME, POLKIT_PATH, POLKIT_INTERFACE,
                        "CancelCheckAuthorization", NULL, NULL, "s", question->id);
        question_end(question, -ECANCELED, NULL);
}

unsigned polkit_forget(const PersonalActMatch *which, void *userdata) {
        Polkit *polkit = userdata;
        unsigned n = 0;

        /* Whoever hears of one may bring others to an end, so the place is looked up anew each time. */
        for (size_t i = polkit->questions->len; i > 0; i--) {
                Question *question = i <= polkit->questions->len ? g_ptr_array_index(polkit->questions, i - 1) : NULL;

                if (!question || !question_is_one(question, which))
                        continue;
                question_withdraw(question);
                n++;
        }
        return n;
}

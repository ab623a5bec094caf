/* SPDX-License-Identifier: MIT */
#include <glib.h>

#include "policy/outcome.h"
#include "policy/posture.h"
#include "policy/provenance.h"
#include "policy/trace.h"

/* ---- function R, cell by cell (contract 5.5.1) ---- */

#define A RESOLUTION_ALLOW
#define P RESOLUTION_PROMPT
#define D RESOLUTION_DENY

static void test_resolve(void) {
        static const struct {
                Requirement requirement;
                Posture posture;
                Resolution expected;
        } cells[] = {
                { REQUIREMENT_AUTO, POSTURE_NEVER, A },
                { REQUIREMENT_AUTO, POSTURE_FULL_ACCESS, A },
                { REQUIREMENT_AUTO, POSTURE_ASK, A },
                { REQUIREMENT_AUTO, POSTURE_AUTO_REVIEW, A },
                { REQUIREMENT_SUGGEST, POSTURE_NEVER, D },
                { REQUIREMENT_SUGGEST, POSTURE_FULL_ACCESS, A },
                { REQUIREMENT_SUGGEST, POSTURE_ASK, P },
                { REQUIREMENT_SUGGEST, POSTURE_AUTO_REVIEW, P },
                { REQUIREMENT_REQUIRED, POSTURE_NEVER, D },
                { REQUIREMENT_REQUIRED, POSTURE_FULL_ACCESS, A },
                { REQUIREMENT_REQUIRED, POSTURE_ASK, P },
                { REQUIREMENT_REQUIRED, POSTURE_AUTO_REVIEW, P },
        };

        g_assert_cmpuint(G_N_ELEMENTS(cells), ==, _REQUIREMENT_MAX * _POSTURE_MAX);
        for (size_t i = 0; i < G_N_ELEMENTS(cells); i++) {
                g_test_message("%s under %s", requirement_to_string(cells[i].requirement),
                                posture_to_string(cells[i].posture));
                g_assert_cmpint(posture_resolve(cells[i].posture, cells[i].requirement), ==,
                                cells[i].expected);
        }
}

/* ---- function D: every combination of its inputs, against the order as the contract tells it ---- */

static Disposition told_order(Posture posture, bool granted, bool denied, bool forced, bool extension) {
        bool full = posture == POSTURE_FULL_ACCESS;

        if (denied)
                return DISPOSITION_SESSION_DENIED;
        if (posture == POSTURE_AUTO_REVIEW)
                return DISPOSITION_AUTO_REVIEW_HOLD;
        if (forced && !extension && full)
                return DISPOSITION_FULL_ACCESS_HOLD;
        if (posture == POSTURE_NEVER)
                return DISPOSITION_NEVER;
        return !forced && (full || granted) ? DISPOSITION_APPROVE : DISPOSITION_CARD;
}

static void test_dispose(void) {
        for (Posture posture = 0; posture < _POSTURE_MAX; posture++)
                for (unsigned bits = 0; bits < 16; bits++) {
                        const DispositionInput input = {
                                .posture = posture,
                                .granted = bits & 1,
                                .denied = bits & 2,
                                .forced = bits & 4,
                                .extension_origin = bits & 8,
                        };

                        g_test_message("%s %u", posture_to_string(posture), bits);
                        g_assert_cmpint(posture_dispose(&input), ==,
                                        told_order(posture, bits & 1, bits & 2, bits & 4, bits & 8));
                }
}

/* The sentences of the contract that name single cells. */
static void test_dispose_named(void) {
        DispositionInput input = { .posture = POSTURE_NEVER, .granted = true };

        g_assert_cmpint(posture_dispose(&input), ==, DISPOSITION_NEVER);
        input = (DispositionInput){
                .posture = POSTURE_FULL_ACCESS, .forced = true, .extension_origin = true, .granted = true
        };
        g_assert_cmpint(posture_dispose(&input), ==, DISPOSITION_CARD);
        input.posture = POSTURE_ASK;
        g_assert_cmpint(posture_dispose(&input), ==, DISPOSITION_CARD);
        input.denied = true;
        g_assert_cmpint(posture_dispose(&input), ==, DISPOSITION_SESSION_DENIED);
}

static void test_effective(void) {
        static const struct {
                Posture posture;
                bool full_access;
                bool standing;
                Posture expected;
        } cases[] = {
                { POSTURE_ASK, false, true, POSTURE_ASK },
                { POSTURE_NEVER, false, true, POSTURE_NEVER },
                { POSTURE_NEVER, true, true, POSTURE_FULL_ACCESS },
                { POSTURE_FULL_ACCESS, false, true, POSTURE_FULL_ACCESS },
                { POSTURE_FULL_ACCESS, true, false, POSTURE_ASK },
                { POSTURE_AUTO_REVIEW, false, false, POSTURE_ASK },
                { POSTURE_NEVER, false, false, POSTURE_NEVER },
                { POSTURE_ASK, false, false, POSTURE_ASK },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                g_assert_cmpint(posture_effective(cases[i].posture, cases[i].full_access, cases[i].standing),
                                ==, cases[i].expected);
}

static void test_tighten(void) {
        static const Posture order[] = { POSTURE_FULL_ACCESS, POSTURE_AUTO_REVIEW, POSTURE_ASK,
                POSTURE_NEVER };

        for (size_t base = 0; base < G_N_ELEMENTS(order); base++)
                for (size_t wish = 0; wish < G_N_ELEMENTS(order); wish++)
                        g_assert_cmpint(posture_tighten(order[base], order[wish]), ==,
                                        order[MAX(base, wish)]);

        g_assert_true(posture_is_raise(POSTURE_ASK, POSTURE_FULL_ACCESS));
        g_assert_true(posture_is_raise(POSTURE_NEVER, POSTURE_FULL_ACCESS));
        g_assert_false(posture_is_raise(POSTURE_FULL_ACCESS, POSTURE_FULL_ACCESS));
        g_assert_false(posture_is_raise(POSTURE_FULL_ACCESS, POSTURE_ASK));
}

static void test_words(void) {
        static const struct {
                const char *word;
                int expected;
        } cases[] = {
                { "ask", POSTURE_ASK },
                { "suggest", POSTURE_ASK },
                { "on-request", POSTURE_ASK },
                { "auto", POSTURE_AUTO_REVIEW },
                { "auto-review", POSTURE_AUTO_REVIEW },
                { "bypass", POSTURE_FULL_ACCESS },
                { "full-access", POSTURE_FULL_ACCESS },
                { "yolo", POSTURE_FULL_ACCESS },
                { "never", POSTURE_NEVER },
                { "Ask", _POSTURE_INVALID },
                { "", _POSTURE_INVALID },
                { NULL, _POSTURE_INVALID },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                g_assert_cmpint(posture_from_string(cases[i].word), ==, cases[i].expected);
        for (Posture posture = 0; posture < _POSTURE_MAX; posture++)
                g_assert_cmpint(posture_from_string(posture_to_string(posture)), ==, posture);

        g_assert_cmpint(mode_from_string("act"), ==, MODE_AGENT);
        g_assert_cmpint(mode_from_string("plan"), ==, MODE_PLAN);
        g_assert_cmpint(mode_from_string("operate"), ==, MODE_OPERATE);
        g_assert_cmpint(mode_from_string("go"), ==, _MODE_INVALID);
        g_assert_null(mode_to_string(_MODE_MAX));
        g_assert_null(posture_to_string(_POSTURE_INVALID));
}

/* Pains C4: six outcomes and no two of them share a word or an error. */
static void test_outcomes(void) {
        for (CallOutcome a = 0; a < _OUTCOME_MAX; a++) {
                g_assert_cmpint(call_outcome_from_string(call_outcome_to_string(a)), ==, a);
                g_assert_true(call_outcome_runs(a) == !call_outcome_error(a));
                for (CallOutcome b = 0; b < a; b++) {
                        g_assert_cmpstr(call_outcome_to_string(a), !=, call_outcome_to_string(b));
                        if (call_outcome_error(a))
                                g_assert_cmpstr(call_outcome_error(a), !=, call_outcome_error(b));
                }
        }
        g_assert_cmpint(call_outcome_from_string("refused"), ==, _OUTCOME_INVALID);
}

static void test_trace(void) {
        g_autoptr(Trace) trace = trace_new();
        g_autofree char *json = NULL;

        g_assert_null(trace_last(trace));
        trace_add(trace, LAYER_RULES, VERDICT_DENY, "rule:\x1b[2J", "no\nline %d", 1);
        trace_add(trace, LAYER_APPROVAL, VERDICT_NOTE, "x", "y");
        g_assert_cmpuint(trace_length(trace), ==, 2);
        g_assert_cmpstr(trace_last(trace)->source, ==, "rule:\\x1b[2J");
        g_assert_cmpstr(trace_step(trace, 0)->why, ==, "no\\x0aline 1");
        json = trace_to_json(trace);
        g_assert_cmpstr(json, ==,
                        "[{\"layer\":\"rules\",\"verdict\":\"deny\",\"source\":\"rule:\\\\x1b[2J\",\"why\":"
                        "\"no\\\\x0aline 1\"},"
                        "{\"layer\":\"approval\",\"verdict\":\"note\",\"source\":\"x\",\"why\":\"y\"}]");
        g_assert_null(trace_free(NULL));
}

/* A source in brackets and a full stop of ours follow. */
static void test_trace_full_stop(void) {
        static const char *const cases[][2] = {
                { "Gone is gone.", "Gone is gone" }, { "and so on...", "and so on..." }, { ".", "." }, { "", "" }, { "v1.2", "v1.2" },
        };
        g_autoptr(Trace) trace = trace_new();

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                trace_add(trace, LAYER_RULES, VERDICT_DENY, "s", "%s", cases[i][0]);
                g_assert_cmpstr(trace_step(trace, i)->why, ==, cases[i][1]);
        }
}

static void test_trace_bound(void) {
        g_autoptr(Trace) trace = trace_new();
        g_autofree char *json = NULL;

        for (unsigned i = 0; i < 100; i++)
                trace_add(trace, LAYER_RULES, VERDICT_ALLOW, "s", "%u", i);
        g_assert_cmpuint(trace_length(trace), ==, 64);
        json = trace_to_json(trace);
        g_assert_true(g_str_has_suffix(json, ",{\"dropped\":36}]"));
}

/* Only leaving Plan where nobody would be asked is a person's act (design 4.2). */
static void test_mode_raise(void) {
        for (Posture posture = 0; posture < _POSTURE_MAX; posture++)
                for (Mode from = 0; from < _MODE_MAX; from++)
                        for (Mode to = 0; to < _MODE_MAX; to++)
                                g_assert_cmpint(mode_is_raise(posture, from, to), ==,
                                                posture == POSTURE_FULL_ACCESS && from == MODE_PLAN && to != MODE_PLAN);
}

/* Contract 5.5.2: everything but the user, the runtime and a sub-agent's hand-off narrows. */
static void test_provenance(void) {
        static const struct {
                const char *word;
                bool valid, standing;
        } cases[] = {
                { "user", true, true },        { "runtime", true, true },     { "sub-agent", true, true },
                { "web", true, false },        { "tool-output", true, false }, { "users", true, false },
                { "User", false, false },      { "", false, false },          { "a b", false, false },
                { "sub-agent\n", false, false }, { "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false, false },
        };

        g_assert_true(provenance_has_standing(NULL));
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_test_message("%s", cases[i].word);
                g_assert_cmpint(provenance_is_valid(cases[i].word), ==, cases[i].valid);
                g_assert_cmpint(provenance_has_standing(cases[i].word), ==, cases[i].standing);
        }
}

int main(int argc, char **argv) {
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/posture/X11-resolve-all-cells", test_resolve);
        g_test_add_func("/posture/X11-dispose-all-inputs", test_dispose);
        g_test_add_func("/posture/X11-dispose-named-cells", test_dispose_named);
        g_test_add_func("/posture/effective", test_effective);
        g_test_add_func("/posture/tighten", test_tighten);
        g_test_add_func("/posture/words", test_words);
        g_test_add_func("/outcome/C4-distinct", test_outcomes);
        g_test_add_func("/trace/steps", test_trace);
        g_test_add_func("/trace/bounded", test_trace_bound);
        g_test_add_func("/trace/full-stop", test_trace_full_stop);
        g_test_add_func("/policy/posture/mode-raise", test_mode_raise);
        g_test_add_func("/policy/posture/provenance", test_provenance);
        return g_test_run();
}

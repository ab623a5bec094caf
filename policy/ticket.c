/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>

#include "common/limits.h"
#include "common/sha256.h"
#include "policy/ticket.h"

#define ID_PREFIX     "cwt."
#define USEC_PER_MSEC UINT64_C(1000)

typedef struct Ticket {
        char *place; /* hex digest of the id: looking it up tells a listener to our timing nothing about the
                        id */
        char *id;
        TicketKind kind;
        TicketTier tier;
        uint64_t host_generation;
        char *owner;
        uint64_t owner_generation;
        char *owner_token;
        char *method;
        Jdoc *target; /* NULL: none */
        char *invocation;
        uint64_t expires_usec;
        unsigned uses_left;
} Ticket;

/* The times of the last bad presentations of one host process. */
typedef struct Violations {
        TicketTier tier;
        uint64_t host_generation;
        uint64_t times[TICKET_VIOLATIONS_MAX];
        unsigned count;
} Violations;

struct TicketTable {
        GHashTable *tickets;   /* by place */
        char *last_invocation; /* of the ticket that went with its last use */
        GPtrArray *violations; /* Violations */
};

static const char *const refusal_table[_TICKET_REFUSAL_MAX] = {
        [TICKET_ACCEPTED] = "accepted",
        [TICKET_UNKNOWN] = "unknown",
        [TICKET_WRONG_KIND] = "wrong kind",
        [TICKET_WRONG_TIER] = "wrong tier",
        [TICKET_WRONG_HOST] = "wrong host",
        [TICKET_WRONG_OWNER] = "wrong owner",
        [TICKET_WRONG_METHOD] = "wrong method",
        [TICKET_WRONG_TARGET] = "wrong target",
        [TICKET_EXPIRED] = "expired",
        [TICKET_EXHAUSTED] = "used up",
};

const char *ticket_refusal_to_string(TicketRefusal refusal) {
        return refusal >= 0 && refusal < _TICKET_REFUSAL_MAX ? refusal_table[refusal] : NULL;
}

static void ticket_free(void *data) {
        Ticket *ticket = data;

        if (!ticket)
                return;
        explicit_bzero(ticket->id, strlen(ticket->id));
        g_free(ticket->id);
        g_free(ticket->place);
        g_free(ticket->owner);
        g_free(ticket->owner_token);
        g_free(ticket->method);
        g_free(ticket->invocation);
        (void) jdoc_free(ticket->target);
        g_free(ticket);
}

TicketTable *ticket_table_new(void) {
        TicketTable *table = g_new0(TicketTable, 1);

        table->tickets = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, ticket_free);
        table->violations = g_ptr_array_new_with_free_func(g_free);
        return table;
}

TicketTable *ticket_table_free(TicketTable *table) {
        if (!table)
                return NULL;

        g_hash_table_unref(table->tickets);
        g_ptr_array_unref(table->violations);
        g_free(table->last_invocation);
        g_free(table);
        return NULL;
}

size_t ticket_table_length(const TicketTable *table) {
        return g_hash_table_size(table->tickets);
}

static void make_id(const uint8_t random[static TICKET_RANDOM_BYTES], char ret[static TICKET_ID_CHARS + 1]) {
        static const char digits[] = "0123456789abcdef";
        char *at = stpcpy(ret, ID_PREFIX);

        for (size_t i = 0; i < TICKET_RANDOM_BYTES; i++) {
                *at++ = digits[random[i] >> 4];
                *at++ = digits[random[i] & 15];
        }
        *at = '\0';
}

static Jdoc *copy_target(Jval target) {
        size_t size;
        const char *text = jval_source(target, &size);
        Jdoc *doc = NULL;

        if (!text)
                return NULL;
        /* It was a value of a document before, so it is one again. */
        if (jdoc_parse_copy(text, size, NULL, &doc, NULL) < 0)
                assert(false);
        return doc;
}

int ticket_table_mint(TicketTable *table, const TicketScope *scope, const char *invocation, unsigned uses,
                uint64_t expires_usec, const uint8_t random[static TICKET_RANDOM_BYTES],
                char ret[static TICKET_ID_CHARS + 1]) {
        g_autofree char *place = NULL;
        char id[TICKET_ID_CHARS + 1];
        Ticket *ticket;

        assert(uses > 0);
        assert(scope->owner && scope->owner_token && scope->method && invocation);
        if (ticket_table_length(table) >= TICKETS_MAX)
                return -ENOBUFS;

        make_id(random, id);
        place = sha256_hex(id, TICKET_ID_CHARS);
        if (g_hash_table_contains(table->tickets, place))
                return -EEXIST;

        ticket = g_new0(Ticket, 1);
        *ticket = (Ticket){
                .place = g_steal_pointer(&place),
                .id = g_strdup(id),
                .kind = scope->kind,
                .tier = scope->tier,
                .host_generation = scope->host_generation,
                .owner = g_strdup(scope->owner),
                .owner_generation = scope->owner_generation,
                .owner_token = g_strdup(scope->owner_token),
                .method = g_strdup(scope->method),
                .target = copy_target(scope->target),
                .invocation = g_strdup(invocation),
                .expires_usec = expires_usec,
                .uses_left = uses,
        };
        g_hash_table_insert(table->tickets, ticket->place, ticket);
        memcpy(ret, id, sizeof id);
        explicit_bzero(id, sizeof id);
        return 0;
}

/* ---- redeeming ---- */

/* Takes as long for any two texts of the same length. */
static bool secrets_equal(const char *a, const char *b, size_t size) {
        unsigned char difference = 0;

        for (size_t i = 0; i < size; i++)
                difference |= (unsigned char) a[i] ^ (unsigned char) b[i];
        return difference == 0;
}

static Ticket *find(const TicketTable *table, const char *id, size_t id_size) {
        g_autofree char *place = NULL;
        Ticket *ticket;

        if (id_size != TICKET_ID_CHARS)
                return NULL;
        place = sha256_hex(id, id_size);
        ticket = g_hash_table_lookup(table->tickets, place);
        return ticket && secrets_equal(ticket->id, id, TICKET_ID_CHARS) ? ticket : NULL;
}

static bool owner_matches(const Ticket *ticket, const TicketScope *claim) {
        size_t size = strlen(ticket->owner_token);

        return g_strcmp0(ticket->owner, claim->owner) == 0 &&
               ticket->owner_generation == claim->owner_generation && claim->owner_token &&
               strlen(claim->owner_token) == size &&
               secrets_equal(ticket->owner_token, claim->owner_token, size);
}

static bool target_matches(const Ticket *ticket, const TicketScope *claim) {
        if (jval_is(claim->target, J_ABSENT))
                return true;

        return ticket->target && jval_equal(jdoc_root(ticket->target), claim->target);
}

static TicketRefusal judge(const Ticket *ticket, const TicketScope *claim, uint64_t now_usec) {
        if (!ticket)
                return TICKET_UNKNOWN;
        if (ticket->kind != claim->kind)
                return TICKET_WRONG_KIND;
        if (ticket->tier != claim->tier)
                return TICKET_WRONG_TIER;
        if (ticket->host_generation != claim->host_generation)
                return TICKET_WRONG_HOST;
        if (!owner_matches(ticket, claim))
                return TICKET_WRONG_OWNER;
        if (g_strcmp0(ticket->method, claim->method) != 0)
                return TICKET_WRONG_METHOD;
        if (!target_matches(ticket, claim))
                return TICKET_WRONG_TARGET;
        if (now_usec >= ticket->expires_usec)
                return TICKET_EXPIRED;
        return ticket->uses_left == 0 ? TICKET_EXHAUSTED : TICKET_ACCEPTED;
}

static Violations *violations_of(TicketTable *table, const TicketScope *claim) {
        Violations *violations;

        for (guint i = 0; i < table->violations->len; i++) {
                violations = table->violations->pdata[i];
                if (violations->tier == claim->tier && violations->host_generation == claim->host_generation)
                        return violations;
        }
        violations = g_new0(Violations, 1);
        violations->tier = claim->tier;
        violations->host_generation = claim->host_generation;
        g_ptr_array_add(table->violations, violations);
        return violations;
}

/* Notes one more; tells whether that is one too many within the window. */
static bool note_violation(TicketTable *table, const TicketScope *claim, uint64_t now_usec) {
        const uint64_t window = TICKET_VIOLATION_WINDOW_MSEC * USEC_PER_MSEC;
        Violations *violations = violations_of(table, claim);
        unsigned oldest = violations->count % TICKET_VIOLATIONS_MAX;

        violations->times[oldest] = now_usec;
        violations->count++;
        if (violations->count < TICKET_VIOLATIONS_MAX)
                return false;

        /* The ring is full: the place that comes next holds the oldest of the last ones. */
        return now_usec - violations->times[violations->count % TICKET_VIOLATIONS_MAX] <= window;
}

/* All that a host may learn. None of the texts names a field or quotes the ticket. */
static int refusal_text(TicketRefusal refusal, const char **ret_text) {
        switch (refusal) {
        case TICKET_ACCEPTED:
                *ret_text = NULL;
                return 0;
        case TICKET_EXHAUSTED:
                *ret_text = "The limit of core calls for this invocation is used up.";
                return -ENOBUFS;
        case TICKET_EXPIRED:
                *ret_text = "The permission for this request has expired.";
                return -ETIME;
        default:
                *ret_text = "The permission is not valid for this request.";
                return -EPERM;
        }
}

static const char *table_retire(TicketTable *table, Ticket *ticket) {
        g_free(table->last_invocation);
        table->last_invocation = g_steal_pointer(&ticket->invocation);
        (void) g_hash_table_remove(table->tickets, ticket->place);
        return table->last_invocation;
}

int ticket_table_redeem(TicketTable *table, const char *id, size_t id_size, const TicketScope *claim,
                uint64_t now_usec, TicketAnswer *ret) {
        Ticket *ticket = find(table, id, id_size);
        TicketAnswer answer = { .refusal = judge(ticket, claim, now_usec) };
        int r = refusal_text(answer.refusal, &answer.text);

        if (answer.refusal == TICKET_ACCEPTED) {
                answer.invocation = ticket->invocation;
                ticket->uses_left--;
                /* The others' rows go with their use; what they belong to is told by a copy that the table
                 * keeps. */
                if (ticket->uses_left == 0 && ticket->kind != TICKET_INVOCATION)
                        answer.invocation = table_retire(table, ticket);
        } else if (answer.refusal != TICKET_EXHAUSTED)
                answer.violation = note_violation(table, claim, now_usec);

        *ret = answer;
        return r;
}

/* ---- revoking ---- */

typedef struct Removal {
        const char *invocation;
        const char *owner;
        uint64_t generation;
        TicketTier tier;
} Removal;

static gboolean is_removed(void *place, void *value, void *userdata) {
        const Removal *removal = userdata;
        const Ticket *ticket = value;

        (void) place;
        if (removal->invocation)
                return g_strcmp0(ticket->invocation, removal->invocation) == 0;
        if (removal->owner)
                return strcmp(ticket->owner, removal->owner) == 0 &&
                       ticket->owner_generation == removal->generation;
        return ticket->tier == removal->tier && ticket->host_generation == removal->generation;
}

static size_t remove_where(TicketTable *table, const Removal *removal) {
        return g_hash_table_foreach_remove(table->tickets, is_removed, (void *) removal);
}

size_t ticket_table_remove_invocation(TicketTable *table, const char *invocation) {
        return remove_where(table, &(Removal){ .invocation = invocation });
}

size_t ticket_table_remove_owner(TicketTable *table, const char *owner, uint64_t owner_generation) {
        return remove_where(table, &(Removal){ .owner = owner, .generation = owner_generation });
}

size_t ticket_table_remove_host(TicketTable *table, TicketTier tier, uint64_t host_generation) {
        for (guint i = table->violations->len; i > 0; i--) {
                const Violations *violations = table->violations->pdata[i - 1];

                if (violations->tier == tier && violations->host_generation == host_generation)
                        g_ptr_array_remove_index_fast(table->violations, i - 1);
        }
        return remove_where(table, &(Removal){ .tier = tier, .generation = host_generation });
}

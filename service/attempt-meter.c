/* SPDX-License-Identifier: MIT */
#include "service/attempt-meter.h"

#include "common/limits.h"

/* A bucket that fills with time. */
typedef struct Bucket {
        unsigned left;
        unsigned left_out;
        uint64_t filled_usec; /* 0: never used */
} Bucket;

struct AttemptMeter {
        GHashTable *clients; /* name -> Bucket */
        Bucket all;
};

AttemptMeter *attempt_meter_new(void) {
        AttemptMeter *meter = g_new0(AttemptMeter, 1);

        meter->clients = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        return meter;
}

AttemptMeter *attempt_meter_free(AttemptMeter *meter) {
        if (!meter)
                return NULL;

        g_hash_table_unref(meter->clients);
        g_free(meter);
        return NULL;
}

static void bucket_fill(Bucket *bucket, unsigned most, uint64_t now_usec) {
        const uint64_t pause = (uint64_t) ATTEMPT_PAUSE_MSEC * 1000;
        uint64_t more = (now_usec - bucket->filled_usec) / pause;

        if (bucket->filled_usec == 0 || more >= most) {
                bucket->left = most;
                bucket->filled_usec = now_usec;
                return;
        }
        bucket->left = MIN(most, bucket->left + (unsigned) more);
        bucket->filled_usec += more * pause;
}

static Bucket *find_bucket(AttemptMeter *meter, const char *client) {
        Bucket *bucket = g_hash_table_lookup(meter->clients, client);

        if (!bucket) {
                bucket = g_new0(Bucket, 1);
                g_hash_table_insert(meter->clients, g_strdup(client), bucket);
        }
        return bucket;
}

bool attempt_meter_take(AttemptMeter *meter, const char *client, uint64_t now_usec, unsigned *ret_left_out) {
        Bucket *own = find_bucket(meter, client);

        bucket_fill(own, ATTEMPTS_AT_ONCE_MAX, now_usec);
        bucket_fill(&meter->all, ATTEMPTS_TOTAL_MAX, now_usec);
        if (own->left == 0 || meter->all.left == 0) {
                own->left_out++;
                return false;
        }

        own->left--;
        meter->all.left--;
        *ret_left_out = own->left_out;
        own->left_out = 0;
        return true;
}

void attempt_meter_forget(AttemptMeter *meter, const char *client) {
        (void) g_hash_table_remove(meter->clients, client);
}

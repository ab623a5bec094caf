/* SPDX-License-Identifier: MIT */
#pragma once

/* What a host must say of itself before it is given anything (contract 3.17, hello checks), and what it is told. */

#include "service/wire-method.h"

typedef struct HostExpectation {
        char *bundle_sha256;
        char *runtime; /* "node" */
        char *version;
        HostTier tier;
} HostExpectation;

void host_expectation_done(HostExpectation *expectation);

/**
 * host_hello_check() - compare a host/hello with what was launched (H01, H02)
 * @ret_reason: which value differs, naming both; a new string, set only on failure
 *
 * Return: 0 or -EPROTO.
 */
int host_hello_check(Jval params, const HostExpectation *expected, char **ret_reason);

/** host_hello_lock() - runtime, version and verified doors of a host/hello that was compared, as JSON; a new string */
char *host_hello_lock(Jval params);

/** host_initialize_params() - the parameters of host/initialize; a new string */
char *host_initialize_params(size_t *ret_size);

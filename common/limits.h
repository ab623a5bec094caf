/* SPDX-License-Identifier: MIT */
#pragma once

/* Everything that a stranger can make us allocate, keep or wait for has its number here. Sizes are in bytes unless the
 * name says otherwise, times carry their unit. The contract's annex A is the source of most. */

#define KIB(n) ((size_t) (n) * 1024u)
#define MIB(n) ((size_t) (n) * 1024u * 1024u)

/* Bus */
#define BUS_MESSAGE_BYTES_MAX      MIB(1)  /* larger payloads travel as a sealed memfd */
#define RESPONSE_INLINE_BYTES_MAX  KIB(64) /* the same for a Response: checking a long string twice holds up the loop */
#define BUS_MEMFD_BYTES_MAX        MIB(8)
#define BUS_OPTIONS_MAX            32u
#define ERROR_TEXT_BYTES_MAX       KIB(4)
#define CLIENT_CALLS_PENDING_MAX   128u    /* per connection; the next one is refused at once */
#define CLIENT_SESSIONS_MAX        32u
#define CLIENTS_MAX                1024u
#define SESSIONS_MAX               256u
#define SESSION_LABEL_BYTES_MAX    256u
#define SESSION_MODEL_BYTES_MAX    256u
#define SESSION_NAMES_MAX          1024u   /* in each list that a session brings */
#define SESSION_NAMES_BYTES_MAX    KIB(64) /* of all of them */
#define HANDLE_TOKEN_CHARS_MAX     64u
#define REQUESTS_MAX               4096u
#define CHANGED_SIGNAL_MSEC        100u    /* between two rounds of signals that something changed */
#define RECORDED_SIGNAL_MSEC       100u    /* between two signals that a decision was recorded */
#define CLIENT_CALLS_BYTES_MAX     MIB(64)  /* arguments of one client's pending calls together */
#define CALLS_BYTES_MAX            MIB(512) /* of all clients' */
#define CALLS_KEPT_BYTES_MAX       MIB(16)  /* of calls that wait until we know who sends them */
#define OPTION_TEXT_BYTES_MAX      KIB(4)
#define LIST_TEXT_BYTES_MAX        512u     /* of a description in a list; Describe has all of it */
#define CLIENT_CHANNELS_MAX        4u
#define CHANNEL_QUEUE_MAX          512u     /* messages that the other end of a direct channel does not read */
#define CHANNEL_QUEUE_BYTES_MAX    MIB(16)
#define CLIENT_WORKSPACES_MAX      8u
#define CLIENT_QUERIES_MAX         2u
#define QUERIES_MAX                8u
#define PROGRESS_SIGNAL_MSEC       100u    /* between two signals that a job went on */
#define CLIENT_JOBS_MAX            4u      /* reviews, previews and installs of one client; they run one by one */

/* JSON */
#define JSON_DEPTH_MAX             64u
#define JSON_FRAME_DEPTH_MAX       80u     /* envelope and parameters around a value of JSON_DEPTH_MAX */
#define JSON_NODES_MAX             (4u * 1024u * 1024u)
#define CALL_ARGUMENTS_BYTES_MAX   MIB(8)
#define CALL_RESULT_BYTES_MAX      MIB(8)

/* JSON Schema (contract 5.1) */
#define SCHEMA_SUBSCHEMAS_MAX      10000u
#define SCHEMA_PATTERN_BYTES_MAX   1024u
#define SCHEMA_PATTERNS_BYTES_MAX  MIB(4)   /* of all compiled expressions of one schema */
#define SCHEMA_STEPS_MAX           1000000u /* of one validation; to this come one for each byte of the instance */
#define SCHEMA_STEPS_PER_VALUE     16u      /* and so many for each of its values */
#define SCHEMA_NESTING_MAX         1024u    /* subschemas being evaluated inside each other */
#define SCHEMA_MATCH_MAX           20000u   /* steps of one match of a regular expression, and some for each byte */
#define SCHEMA_REASONS_MAX         5u
#define SCHEMA_REPORT_BYTES_MAX    2048u
#define SCHEMA_NOTES_MAX           100u

/* Bundles */
#define MANIFEST_BYTES_MAX         MIB(1)
#define BUNDLE_FILES_MAX           4096u
#define LEASES_MAX                 4096u /* files of sealed copies that are held by a descriptor */
#define LEASED_FILES_MIN           32u   /* smaller copies are compared file by file */
#define BUNDLE_BYTES_MAX           MIB(64)
#define BUNDLE_DEPTH_MAX           32u
#define BUNDLE_PATH_BYTES_MAX      1024u
#define BUNDLE_NAME_CHARS_MAX      64u
#define BUNDLES_PER_ROOT_MAX       1024u
#define COMPONENT_PATHS_MAX        64u
#define RELOADS_AGAIN_MAX          8u       /* one look at all bundles begins anew, because workspaces come and go meanwhile */
#define INSTALL_BYTES_MAX          MIB(5)
#define DOWNLOAD_BYTES_MAX         MIB(8)   /* an archive is larger than what it holds: a header and padding for each file */
#define DOWNLOAD_URL_BYTES_MAX     2048u
#define DOWNLOAD_REDIRECTS_MAX     5u
#define DOWNLOAD_SECONDS_MAX       300u
#define DOWNLOAD_CONNECT_SECONDS   20u
#define DOWNLOAD_SLOW_SECONDS      30u      /* less than DOWNLOAD_SLOW_BYTES a second for so long is given up */
#define DOWNLOAD_SLOW_BYTES        256u
#define DOWNLOAD_MEMORY_BYTES      ((uint64_t) 128u * 1024u * 1024u)
#define DOWNLOAD_TASKS_MAX         8u
#define RECEIPTS_MAX               32u
#define STATE_FILE_BYTES_MAX       MIB(4)
#define CONFIG_FILE_BYTES_MAX      MIB(1)
#define PLUGIN_CONFIG_BYTES_MAX    KIB(16)
#define PLUGIN_CONFIG_DEPTH_MAX    16u

/* Frames between service and host */
#define FRAME_PAYLOAD_BYTES_MAX    33554432u
#define FRAME_QUEUE_MAX            128u
#define FRAME_QUEUE_BYTES_MAX      MIB(64) /* 128 frames of the largest size would be 4 GiB */
#define RPC_IN_FLIGHT_MAX          256u
#define RPC_ERROR_BYTES_MAX        KIB(4)
#define RPC_PACE_SHARE             16u     /* of the loop's time a host may take one part in so many with its own messages */
#define RPC_PACE_BURST_USEC        100000u /* and so much at once */
#define RPC_PACE_SLICE_USEC        200u
#define RPC_PACE_SPENT_USEC_MAX    250u    /* what one message is charged at most: it may have waited for the disk */
#define RPC_PACE_SPENT_USEC_MIN    50u     /* and at least: it also woke us up */
#define FAULT_TEXT_BYTES_MAX       KIB(4)
#define LOG_TEXT_BYTES_MAX         KIB(8)
#define LOG_LINES_MAX              500u   /* of one plugin's logger within LOG_LINES_MSEC; more are counted, not kept */
#define LOG_LINES_MSEC             30000u
#define DIAGNOSTICS_MAX            64u
#define DIAGNOSTIC_BYTES_MAX       2048u

/* The launcher's report */
#define SANDBOX_REPORT_BYTES_MAX     KIB(64)
#define SANDBOX_CHECKS_MAX           64u
#define SANDBOX_CHECK_NAME_BYTES_MAX 64u

/* Times of a host */
#define HOST_HANDSHAKE_MSEC        30000u
#define HOST_ACTIVATE_MSEC         5000u
#define HOST_ACTIVATE_GRACE_MSEC   1000u
#define HOST_DISPOSE_MSEC          2000u
#define HOST_DISPOSE_GRACE_MSEC    500u
#define HOST_PING_MSEC             3000u
#define HOST_PING_LATE_MSEC        3000u
#define HOST_PING_LOST_MSEC        10000u
#define HOST_CANCEL_GRACE_MSEC     500u
#define HOST_RESTART_MSEC          250u
#define HOST_CRASHES_MAX           3u
#define HOST_CRASH_WINDOW_MSEC     300000u
#define HOST_STARTS_MAX            4u  /* at once, of hosts that nobody waits for */
#define HOST_STARTS_AWAITED_MAX    16u /* at once, with those that somebody waits for */
#define HOST_LAUNCH_RETRY_MSEC     60000u
#define HOST_DIRTY_MAX             2u
#define HOST_DIRTY_WINDOW_MSEC     600000u
#define HOST_SHUTDOWN_MSEC         2000u
#define HOST_LINGER_MSEC           1000u /* from the end of its channel; a dying process needs some ms */
#define HOST_KILL_MSEC             3000u
#define HOST_IDLE_MSEC             300000u
#define IDLE_TRIM_MSEC             1000u /* from coming to rest to giving back memory */
#define HOST_MEMORY_BYTES          ((uint64_t) 1024u * 1024u * 1024u)
#define HOST_JIT_DATA_BYTES        ((uint64_t) 512u * 1024u * 1024u) /* code range that Node >= 24 maps at start */
#define HOST_TASKS_MAX             64u
#define LIFELINE_MEMORY_BYTES      ((uint64_t) 16u * 1024u * 1024u)

/* Registrations */
#define REGISTRATION_NAME_BYTES_MAX KIB(1) /* of any kind; each has its own, smaller one */
#define TOOL_NAME_CHARS_MAX        64u
#define TOOL_DESCRIPTION_BYTES_MAX KIB(4)
#define TOOL_SCHEMA_BYTES_MAX      KIB(64)
#define TOOLS_PER_OWNER_MAX        128u
#define TOOLS_MAX                  1024u
#define TOOL_DEADLINE_MSEC         120000u
#define COMMAND_NAME_CHARS_MAX     64u
#define COMMAND_DESCRIPTION_BYTES_MAX 1024u
#define COMMAND_HINT_BYTES_MAX     256u
#define COMMANDS_PER_OWNER_MAX     64u
#define COMMANDS_MAX               256u
#define COMMAND_DEADLINE_MSEC      30000u
#define COMMAND_TEXT_BYTES_MAX     KIB(64)
#define COMMAND_PROMPT_BYTES_MAX   KIB(128)
#define HOOKS_PER_OWNER_MAX        128u
#define HOOKS_MAX                  1024u
#define HOOK_BATCH_MSEC            5000u
#define HOOK_REVISION_BYTES_MAX    KIB(32)
#define HOOK_TEXT_CHARS_MAX        2000u
#define HOOK_CONTEXT_CHARS_MAX     8000u
#define HOOK_LABEL_BYTES_MAX       256u
#define PROMPT_ID_CHARS_MAX        64u
#define PROMPT_TEXT_BYTES_MAX      KIB(4)
#define PROMPT_OWNER_BYTES_MAX     KIB(32)
#define PROMPT_OWNER_SECTIONS_MAX  128u
#define PROMPT_BYTES_MAX           KIB(128)
#define PROMPT_SECTIONS_MAX        1024u
#define PROMPT_BLOCK_BYTES_MAX     KIB(128)

#define REGISTRATION_RECORD_BYTES_MAX MIB(12) /* of one plugin: 128 tools with the largest schema, and the rest */
#define REGISTRATION_RECORD_NODES_MAX 1000000u

/* Storage */
#define STORAGE_KEY_BYTES_MAX      128u
#define STORAGE_VALUE_BYTES_MAX    KIB(128)
#define STORAGE_OWNER_BYTES_MAX    MIB(4)
#define STORAGE_OWNER_KEYS_MAX     1024u

/* Approvals, grants, decisions */
#define APPROVALS_MAX              2048u
#define APPROVALS_PER_CLIENT_MAX   64u
#define APPROVALS_PER_PLUGIN_MAX   1024u
#define APPROVERS_MAX              32u
#define APPROVAL_PREVIEW_BYTES_MAX KIB(16)
#define GRANTS_MAX                 4096u
#define DENIALS_MAX                4096u
#define DECISION_RECORD_BYTES_MAX  KIB(64)
#define DECISION_FILE_BYTES_MAX    MIB(8)
#define DECISION_FILES_MAX         8u
#define DECISION_QUERY_MAX         1000u
#define NOTIFICATION_PAUSE_MSEC    200u    /* changes within it make one notification */
#define NOTIFICATION_START_SEC     300u    /* between two tries to start a notification server */
#define GRANT_SECONDS_MAX          (30u * 24u * 3600u)
#define ATTEMPTS_AT_ONCE_MAX       32u     /* records of refused attempts of one client */
#define ATTEMPTS_TOTAL_MAX         256u    /* of all */
#define ATTEMPT_PAUSE_MSEC         1000u   /* after which one more is written down */

/* Policy */
#define TRACE_STEPS_MAX            64u
#define TRACE_SOURCE_BYTES_MAX     256u
#define TRACE_WHY_BYTES_MAX        512u
#define RULES_MAX                  4096u
#define RULE_PATTERN_BYTES_MAX     1024u
#define ADMISSION_NAMES_MAX        1024u
#define LAW_ENTRIES_MAX            256u
#define PERMISSIONS_FILE_BYTES_MAX MIB(1)
#define OVERLAY_FILE_BYTES_MAX     KIB(64)
#define OVERLAY_READ_MSEC          5000u
#define POLICY_MISTAKES_MAX        64u
#define POLICY_MISTAKE_BYTES_MAX   1024u
#define COMMAND_BYTES_MAX          KIB(32)
#define COMMAND_SEGMENTS_MAX       128u
#define COMMAND_WORDS_MAX          1024u
#define COMMAND_NESTING_MAX        4u
#define COMMAND_PATHS_MAX          4096u   /* that a command may name */
#define COMMAND_PATHS_BYTES_MAX    MIB(2)  /* of all that may be paths, each from each folder that it may be meant from */
#define OPERANDS_MAX               64u

/* Core calls */
#define CORE_CALLS_PER_INVOCATION_MAX   50u
#define CORE_CALLS_CONCURRENT_MAX       4u
#define CORE_CALL_NAME_CHARS_MAX        128u
#define CORE_TICKET_USEC                (UINT64_C(24) * 3600 * 1000000) /* a backstop; tickets end with their call */
#define CORE_LATE_MSEC                  500u    /* a ticket of a call that ended just now is late, not forged */
#define CORE_INPUTS_BYTES_MAX           MIB(16) /* of the core calls of one invocation that wait or run */
#define CORE_TOOLS_MAX                  256u    /* of a client's core */
#define CORE_TOOLS_BYTES_MAX            KIB(512)
#define CORE_TEXT_BYTES_MAX             KIB(256) /* of a result's text; the middle of a longer one is left out */
#define CORE_STRUCTURED_BYTES_MAX       MIB(1)
#define CORE_FILE_BYTES_MAX             MIB(16)
#define CORE_WRITE_BYTES_MAX            MIB(4)
#define CORE_GREP_BYTES_MAX             MIB(4)   /* larger files are not searched */
#define CORE_LINE_BYTES_MAX             1000u
#define CORE_LIST_ENTRIES_MAX           2000u
#define CORE_SEARCH_RESULTS             200u     /* unless the call asks for more */
#define CORE_SEARCH_RESULTS_MAX         2000u
#define CORE_WALK_FILES_MAX             50000u
#define CORE_SHELL_MSEC                 120000u
#define CORE_SHELL_MSEC_MAX             600000u
#define CORE_RUN_MSEC_MAX               660000u  /* of one core call, whoever runs it */
#define CORE_RUN_MEMORY_BYTES           ((uint64_t) 1024u * 1024u * 1024u)
#define CORE_RUN_TASKS_MAX              256u
#define CORE_WEB_BYTES_MAX              MIB(4)   /* of one page */
#define CORE_WEB_SECONDS_MAX            60u
#define CORE_WEB_REDIRECTS_MAX          5u       /* within one origin; others are told, not followed */
#define CORE_WEB_PRIVATE_MAX            32u      /* entries of [core] web_fetch_private */
#define CORE_OPERAND_BYTES_MAX          MIB(64)  /* of all files that one card is bound to */
#define TICKETS_MAX                     4096u
#define TICKET_VIOLATIONS_MAX           8u
#define TICKET_VIOLATION_WINDOW_MSEC    60000u

/* Skills */
#define SKILL_PATH_BYTES_MAX       512u
#define SKILL_FILE_BYTES_MAX       MIB(1)
#define SKILL_ROOTS_PER_OWNER_MAX  8u
#define SKILL_ROOTS_MAX            64u
#define SKILL_CANDIDATES_MAX       128u
#define SKILL_SCAN_BYTES_MAX       MIB(4)
#define SKILLS_PER_OWNER_MAX       128u
#define SKILL_OWNER_BYTES_MAX      MIB(4)  /* of instructions and texts */
#define SKILLS_MAX                 1024u
#define SKILL_BYTES_MAX            MIB(32)
#define SKILL_MATTER_BYTES_MAX     KIB(16)
#define SKILL_NAME_CHARS_MAX       64u
#define SKILL_LIST_MAX             32u     /* of aliases, and of languages */
#define SKILL_LANGUAGE_CHARS_MAX   35u

/* SPDX-License-Identifier: MIT */
#pragma once

/* Ids of the journal messages that an administrator may want to find or have explained; the texts behind them are in
 * data/codewhale-extensions.catalog. An id is never used again for something else. */

#define MESSAGE_PLUGIN_ACTIVE "1c9f5e0d1b7b4b6a9a5e7f6d2c3b4a10"
#define MESSAGE_PLUGIN_FAILED "8a1f0e6c3b5d4d7e9c2a61f04b7d35aa"
#define MESSAGE_SANDBOX_REFUSED "5d2b7c8e9f014a63b1c4d5e6f7a80912"
#define MESSAGE_PLUGIN_CRASHED "e3b6a1d4c5f24f0b8d7e6a5b4c3d2e1f"
#define MESSAGE_PLUGIN_LEFT_ALONE "7f4e3d2c1b0a49588766554433221100"
#define MESSAGE_PLUGIN_LIMIT "a7c0e5d2419b4f3f8e6b1d0c9a8f7e61"
#define MESSAGE_DECISION_LOST "b2a1908f7e6d4c5bba39281706f5e4d3"
#define MESSAGE_DECISION "c4d3e2f1a0b94857a6b5c4d3e2f1a0b9"
#define MESSAGE_TRUST "9e8d7c6b5a4f4e3d8c7b6a5f4e3d2c1b"
#define MESSAGE_CARD "0d6a3c1f58b24e779a40c6f2b1e85d93"
#define MESSAGE_GRANT "6b27f1e4a9d043c08e5512c7d3fa96b8"
#define MESSAGE_POSTURE "f39c0e7b2d584a16b7e1a86c40d95f23"
#define MESSAGE_ATTEMPT "3e85b1d70c964fa2a1f7d05e6c2b9484"

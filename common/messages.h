/* SPDX-License-Identifier: MIT */
#pragma once

/* Ids of the journal messages that an administrator may want to find or have explained; the texts behind them are in
 * data/codewhale-extensions.catalog. An id is never used again for something else. */

#define MESSAGE_PLUGIN_ACTIVE "10aba6f169aa4298be9a6cf0a251e280"
#define MESSAGE_PLUGIN_FAILED "eb2064d3bf9347c49d9dfc164efb2cca"
#define MESSAGE_SANDBOX_REFUSED "484adbd4b0144889add7411b1b19e28e"
#define MESSAGE_PLUGIN_CRASHED "fc310b33c81246c091ee9d8a3d46669e"
#define MESSAGE_PLUGIN_LEFT_ALONE "7cbc108ebef94c0cb79a7588f62a8718"
#define MESSAGE_PLUGIN_LIMIT "b0465ab27c96486a942f6ff5f843ba60"
#define MESSAGE_DECISION_LOST "083a261aab024c66975f565dd1ac1d19"
#define MESSAGE_DECISION "128d32f722ca44e59a491aca1f190a83"
#define MESSAGE_TRUST "7b6f5ffc3c6d4522b14989a94ea34420"
#define MESSAGE_CARD "ab7ad278623245c38de8f78dbd186b4d"
#define MESSAGE_GRANT "2514b392dce0431d8ed91c6cbe7752b5"
#define MESSAGE_POSTURE "ec46fac2c0024b9f96755c06c7084d50"
#define MESSAGE_ATTEMPT "707ed9ccc6c345458228cfd56cfa5bc6"

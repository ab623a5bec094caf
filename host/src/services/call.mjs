// SPDX-License-Identifier: MIT
//
// What a tool and a command are told about their call: only what the core supplied with this very call (contract 4.1, O13)

const LABELS = [['workspace', 'workspace'], ['session_id', 'sessionId'], ['agent_id', 'agentId'], ['origin_turn_id', 'originTurnId']]

export function callLabels(entry, params) {
  const labels = {}
  const dataDir = params.data_dir ?? entry.dataDir
  if (dataDir !== undefined) labels.dataDir = dataDir
  for (const [wire, name] of LABELS) if (params[wire] !== undefined) labels[name] = params[wire]
  return labels
}

# SPDX-License-Identifier: MIT
# Fish completion for codewhalectl.

# The names in a JSON list that codewhalectl prints. Only plain words are taken: they go onto a command line.
function __codewhalectl_names
    codewhalectl --timeout=2 --json $argv[2..] 2>/dev/null |
        string match -arg '"'$argv[1]'":"?([A-Za-z0-9._/:-]+)'
end

set -l session call run tools commands hooks prompt
set -l plugins show review trust enable disable revoke uninstall log

complete -c codewhalectl -f
complete -c codewhalectl -s h -l help -d 'Show help'
complete -c codewhalectl -l version -d 'Show the version'
complete -c codewhalectl -s j -l json -d 'Print JSON'
complete -c codewhalectl -l user -d 'The service on the user bus'
complete -c codewhalectl -l system -d 'The service on the system bus'
complete -c codewhalectl -l address -x -d 'The service on this bus'
complete -c codewhalectl -l timeout -x -d 'Give up after these seconds'
complete -c codewhalectl -l no-pager -d 'No pager'
complete -c codewhalectl -l color -x -a 'auto always never' -d 'Use colours'

complete -c codewhalectl -n __fish_use_subcommand -a list -d 'Show known bundles and their state'
complete -c codewhalectl -n __fish_use_subcommand -a show -d 'Show all facts about one bundle'
complete -c codewhalectl -n __fish_use_subcommand -a validate -d 'Check a folder as if it were installed'
complete -c codewhalectl -n __fish_use_subcommand -a schema -d 'Judge a JSON Schema as the registration of a tool would'
complete -c codewhalectl -n __fish_use_subcommand -a install -d 'Copy a bundle into your plugins'
complete -c codewhalectl -n __fish_use_subcommand -a review -d 'Show what a bundle is and asks for'
complete -c codewhalectl -n __fish_use_subcommand -a trust -d 'Trust exactly what a review showed'
complete -c codewhalectl -n __fish_use_subcommand -a enable -d 'Let a trusted bundle run'
complete -c codewhalectl -n __fish_use_subcommand -a disable -d 'Stop a bundle and keep the trust in it'
complete -c codewhalectl -n __fish_use_subcommand -a revoke -d 'Take the trust in a bundle back'
complete -c codewhalectl -n __fish_use_subcommand -a uninstall -d 'Delete a disabled bundle'
complete -c codewhalectl -n __fish_use_subcommand -a reload -d 'Read the configuration and all bundles again'
complete -c codewhalectl -n __fish_use_subcommand -a tools -d 'Show the tools'
complete -c codewhalectl -n __fish_use_subcommand -a call -d 'Call a tool'
complete -c codewhalectl -n __fish_use_subcommand -a commands -d 'Show the commands'
complete -c codewhalectl -n __fish_use_subcommand -a run -d 'Run a command'
complete -c codewhalectl -n __fish_use_subcommand -a hooks -d 'Show who is asked before a tool runs'
complete -c codewhalectl -n __fish_use_subcommand -a prompt -d 'Print what plugins add to the prompt'
complete -c codewhalectl -n __fish_use_subcommand -a storage -d 'Look at what a plugin stored'
complete -c codewhalectl -n __fish_use_subcommand -a sessions -d 'Show the open sessions'
complete -c codewhalectl -n __fish_use_subcommand -a approve -d 'Show and answer questions to a person'
complete -c codewhalectl -n __fish_use_subcommand -a grants -d 'Show or end what was allowed beyond one call'
complete -c codewhalectl -n __fish_use_subcommand -a why -d 'Tell how a call came to its outcome'
complete -c codewhalectl -n __fish_use_subcommand -a decisions -d 'Show the latest decisions'
complete -c codewhalectl -n __fish_use_subcommand -a status -d 'Show the state of the service'
complete -c codewhalectl -n __fish_use_subcommand -a doctor -d 'Look for what could keep extensions from running'
complete -c codewhalectl -n __fish_use_subcommand -a log -d 'Show what a plugin wrote'
complete -c codewhalectl -n __fish_use_subcommand -a monitor -d "Print the service's signals"
complete -c codewhalectl -n __fish_use_subcommand -a help -d 'Show help'

complete -c codewhalectl -n "__fish_seen_subcommand_from $plugins" -a '(__codewhalectl_names name list)'
complete -c codewhalectl -n '__fish_seen_subcommand_from install validate' -a '(__fish_complete_directories)'
complete -c codewhalectl -n '__fish_seen_subcommand_from tools call' -a '(__codewhalectl_names name tools)'
complete -c codewhalectl -n '__fish_seen_subcommand_from run' -a '(__codewhalectl_names name commands)'
complete -c codewhalectl -n '__fish_seen_subcommand_from storage' -a 'list get delete usage (__codewhalectl_names name list)'
complete -c codewhalectl -n '__fish_seen_subcommand_from approve' -a 'allow deny (__codewhalectl_names id approve)'
complete -c codewhalectl -n '__fish_seen_subcommand_from grants' -a 'revoke all (__codewhalectl_names id grants)'
complete -c codewhalectl -n '__fish_seen_subcommand_from why' -a '(__codewhalectl_names call decisions)'

complete -c codewhalectl -n "__fish_seen_subcommand_from list $session" -l workspace -x -a '(__fish_complete_directories)' -d 'Workspace'
complete -c codewhalectl -n "__fish_seen_subcommand_from $session" -l mode -x -a 'agent plan operate' -d 'Mode of the session'
complete -c codewhalectl -n "__fish_seen_subcommand_from $session" -l posture -x -a 'ask auto-review never full-access' -d 'Posture of the session'
complete -c codewhalectl -n '__fish_seen_subcommand_from prompt' -l model -x -d 'What the model stands for'
complete -c codewhalectl -n '__fish_seen_subcommand_from call run' -l deadline -x -d 'Time of the plugin in milliseconds'
complete -c codewhalectl -n '__fish_seen_subcommand_from install' -l expect -x -d 'Refuse other bytes'
complete -c codewhalectl -n '__fish_seen_subcommand_from review trust' -l diff -d 'With the lines that changed'
complete -c codewhalectl -n '__fish_seen_subcommand_from approve' -s w -l watch -d 'Ask about every call'
complete -c codewhalectl -n '__fish_seen_subcommand_from approve' -l scope -x -a 'once session' -d 'What the answer is for'
complete -c codewhalectl -n '__fish_seen_subcommand_from approve' -l for -x -d 'How long at most'
complete -c codewhalectl -n '__fish_seen_subcommand_from approve' -l digest -x -d 'Of the card'
complete -c codewhalectl -n '__fish_seen_subcommand_from decisions' -l kind -x -a 'call command card answer grant trust posture attempt' -d 'Of a kind'
complete -c codewhalectl -n '__fish_seen_subcommand_from decisions' -l session -x -d 'In this session'
complete -c codewhalectl -n '__fish_seen_subcommand_from decisions' -l plugin -x -a '(__codewhalectl_names name list)' -d 'About this plugin'
complete -c codewhalectl -n '__fish_seen_subcommand_from decisions' -l tool -x -a '(__codewhalectl_names name tools)' -d 'About this tool'
complete -c codewhalectl -n '__fish_seen_subcommand_from decisions' -l outcome -x -d 'With this outcome'
complete -c codewhalectl -n '__fish_seen_subcommand_from decisions log' -l since -x -d 'Newer'
complete -c codewhalectl -n '__fish_seen_subcommand_from decisions log' -l until -x -d 'Older'
complete -c codewhalectl -n '__fish_seen_subcommand_from decisions' -l limit -x -d 'At most'
complete -c codewhalectl -n '__fish_seen_subcommand_from log' -s f -l follow -d 'Print what is new'
complete -c codewhalectl -n '__fish_seen_subcommand_from log' -s n -l lines -x -d 'The last lines'

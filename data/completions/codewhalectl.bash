# SPDX-License-Identifier: MIT
# Bash completion for codewhalectl.

# The names in a JSON list that codewhalectl prints. Only plain words are taken: they go onto a command line.
__codewhalectl_names() {
        codewhalectl --timeout=2 --json "${@:2}" 2>/dev/null |
                grep -Eo "\"$1\":(\"[A-Za-z0-9._/:-]+\"|[0-9]+)" | cut -d: -f2- | tr -d '"'
}

_codewhalectl() {
        local verbs='list show validate schema install update review trust enable disable revoke uninstall reload tools call commands run
                hooks prompt skills storage sessions approve approvers grants why policy decisions new dev status doctor log top monitor help'
        local everywhere='--help --version --json --user --system --address= --timeout= --no-pager --color='
        local session='--workspace= --mode= --posture='
        local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} verb='' place=0 i words=''

        [[ $current == '=' ]] && current=''
        [[ $previous == '=' ]] && previous=${COMP_WORDS[COMP_CWORD-2]}

        for ((i = 1; i < COMP_CWORD; i++)); do
                case ${COMP_WORDS[i]} in
                -* | '=') ;;
                *) [[ ${COMP_WORDS[i-1]} == '=' ]] && continue
                   if [[ -z $verb ]]; then verb=${COMP_WORDS[i]}; else place=$((place + 1)); fi ;;
                esac
        done

        case $previous in
        --color) words='auto always never' ;;
        --mode) words='agent plan operate' ;;
        --posture) words='ask auto-review never full-access' ;;
        --scope) words='once session' ;;
        --kind) words='call core-call command card answer grant trust posture attempt' ;;
        --sort) words='memory cpu calls name' ;;
        --dir) mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
        --config | --node) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
        --outcome) words='allowed approved denied timed-out no-approver withdrawn refused-by-policy hook-denied hook-failed cancelled' ;;
        --plugin) words=$(__codewhalectl_names name list) ;;
        --tool) words=$(__codewhalectl_names name tools) ;;
        --workspace) mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
        esac
        if [[ -n $words ]]; then
                mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
                return
        fi

        if [[ $current == -* ]]; then
                words=$everywhere
                case $verb in
                list) words+=' --workspace=' ;;
                call) words+=" $session --deadline=" ;;
                run) words+=" $session --deadline=" ;;
                prompt) words+=" $session --model=" ;;
                tools | commands | hooks | skills) words+=" $session" ;;
                install) words+=' --expect= --allow-network --preview' ;;
                update) words+=' --expect= --allow-network' ;;
                review | trust) words+=' --diff' ;;
                approve) words+=' --watch --scope= --for= --digest=' ;;
                policy) words+=" $session --session= --from= --kind=" ;;
                decisions) words+=' --kind= --session= --plugin= --tool= --outcome= --since= --until= --limit=' ;;
                log) words+=' --follow --lines= --since= --until=' ;;
                top) words+=' --once --lines= --interval= --sort=' ;;
                new) words+=' --dir= --typescript' ;;
                dev) words+=' --ask --config= --node=' ;;
                esac
        elif [[ -z $verb ]]; then
                words=$verbs
        else
                case $verb:$place in
                show:0 | update:0 | review:0 | trust:0 | enable:0 | disable:0 | revoke:0 | uninstall:0 | log:0 | storage:1)
                        words=$(__codewhalectl_names name list) ;;
                install:0 | validate:0 | dev:0)
                        mapfile -t COMPREPLY < <(compgen -d -- "$current")
                        return ;;
                tools:0 | call:0) words=$(__codewhalectl_names name tools) ;;
                run:0) words=$(__codewhalectl_names name commands) ;;
                storage:0) words='list get delete repair usage' ;;
                approve:0) words=$(__codewhalectl_names id approve) ;;
                approve:1) words='allow deny' ;;
                grants:0) words="revoke $(__codewhalectl_names id grants)" ;;
                grants:1) words="all $(__codewhalectl_names id grants)" ;;
                policy:0) words='show check explain' ;;
                policy:1) words=$(__codewhalectl_names name tools) ;;
                why:0) words=$(__codewhalectl_names call decisions) ;;
                help:0) words=$verbs ;;
                esac
        fi

        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
        [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
}

complete -F _codewhalectl codewhalectl

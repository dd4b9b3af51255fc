# shellcheck shell=bash
# Completion of errand for bash 3.2 and later, with or without the package bash-completion.
# To use it, in ~/.bashrc: source <(errand completion bash)
#
# Bash gives the words cut at = and : and still quoted, and inserts what it is given as it is: so this joins, unquotes
# and quotes. No word of the line and no answer is ever evaluated.

# The words up to the cursor as they were typed, into raw: bash cuts them at = and : too.
__errand_join() {
  local line=${COMP_LINE:0:COMP_POINT} index gap word
  raw=()
  for ((index = 0; index <= COMP_CWORD; index++)); do
    word=${COMP_WORDS[index]}
    gap=${line%%[![:space:]]*}
    line=${line#"$gap"}
    if ((index == COMP_CWORD)); then word=$line; fi
    line=${line#"$word"}
    if ((index == 0)) || [[ -n $gap ]]; then
      raw+=("$word")
    else
      raw[${#raw[@]} - 1]+=$word
    fi
  done
}

# The text of the raw word $1 into text, the quote that is open at its end into open, and into before the part of the
# text that bash keeps when it inserts: all up to that quote, or up to the last = or : outside of one.
__errand_unquote() {
  local word=$1 index char next
  text='' open='' before=''
  for ((index = 0; index < ${#word}; index++)); do
    char=${word:index:1} next=${word:index+1:1}
    case $open$char in
      "'" | '"')
        open=$char before=$text
        ;;
      "''" | '""')
        open=''
        ;;
      \\)
        text+=$next
        index=$((index + 1))
        ;;
      \"\\)
        if [[ -n $next && '\"$`' == *"$next"* ]]; then
          text+=$next
          index=$((index + 1))
        else
          text+=$char
        fi
        ;;
      [=:@])
        text+=$char
        if [[ $COMP_WORDBREAKS == *"$char"* ]]; then before=$text; fi
        ;;
      *)
        text+=$char
        ;;
    esac
  done
}

# The text $1 as it stands in a command line after the quote $2, into quoted.
__errand_quote() {
  local backtick=$'\x60'
  quoted=$1
  case $2 in
    "'")
      quoted=${quoted//\'/\'\\\'\'}
      ;;
    '"')
      quoted=${quoted//\\/\\\\}
      quoted=${quoted//\"/\\\"}
      quoted=${quoted//\$/\\\$}
      quoted=${quoted//$backtick/\\$backtick}
      quoted=${quoted//!/\"\'!\'\"}
      ;;
    *)
      printf -v quoted %q "$quoted"
      quoted=${quoted//\\,/,}
      ;;
  esac
}

_errand() {
  local raw words=() values=() notes=() mode='' width=0 index record text open before quoted
  COMPREPLY=()
  __errand_join
  for ((index = 1; index < ${#raw[@]}; index++)); do
    __errand_unquote "${raw[index]}"
    words+=("$text")
  done
  while IFS= read -r -d '' record; do
    if [[ -z $mode ]]; then
      mode=$record
      continue
    fi
    text=${record%%$'\t'*}
    __errand_quote "${text#"$before"}" "$open"
    values+=("$quoted")
    notes+=("${record#*$'\t'}")
    if ((${#quoted} > width)); then width=${#quoted}; fi
  done < <(command errand __complete -- "${words[@]}" </dev/null 2>/dev/null)

  if [[ $mode == files ]]; then
    if type compopt &>/dev/null; then
      compopt -o default
    else
      while IFS= read -r text; do COMPREPLY+=("$text"); done < <(compgen -f -- "${raw[${#raw[@]} - 1]}")
    fi
    return
  fi
  if type compopt &>/dev/null; then compopt -o nosort 2>/dev/null; fi
  # Descriptions only where the matches are listed: what is inserted must be the value alone.
  for ((index = 0; index < ${#values[@]}; index++)); do
    if ((${#values[@]} > 1)) && [[ ${COMP_TYPE:-9} == @(33|63|64) && -n ${notes[index]} ]]; then
      printf -v text '%-*s  (%s)' "$width" "${values[index]}" "${notes[index]}"
      COMPREPLY+=("$text")
    else
      COMPREPLY+=("${values[index]}")
    fi
  done
}

complete -F _errand errand

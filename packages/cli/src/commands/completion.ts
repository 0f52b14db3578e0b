import { Argument, type Command } from 'commander';
import { pathOf, withExamples } from '../help.ts';
import type { CliPorts } from '../ports.ts';

const shells = ['bash', 'zsh'] as const;

/** Adds `completion`: a script by which a shell completes commands, options and their choices. */
export function addCompletionCommand(program: Command, ports: CliPorts): void {
  const completion = program
    .command('completion')
    .description(
      'a script by which your shell completes commands and options: append it to ~/.bashrc or ~/.zshrc',
    )
    .addArgument(new Argument('<shell>', 'whose').choices(shells))
    .action((shell: (typeof shells)[number]) => {
      // zsh runs completions that were written for bash.
      const prelude = shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : '';
      ports.print(`${prelude}${scriptOf(program)}`);
    });
  withExamples(completion, ['pesewa completion bash', 'pesewa completion zsh']);
}

function scriptOf(program: Command): string {
  const cases = commandsOf(program).map((command) => {
    const words = [...subcommandsOf(command), ...choicesOf(command), ...optionsOf(command)];
    return `    '${pathOf(command)}') words='${words.join(' ')}' ;;\n`;
  });
  return `_pesewa() {
  local words='' word path=pesewa
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
      ${commandsOf(program)
        .slice(1)
        .map((command) => `'${pathOf(command)}'`)
        .join('|')}) path="$path $word" ;;
    esac
  done
  case "$path" in
${cases.join('')}  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _pesewa pesewa
`;
}

const commandsOf = (command: Command): readonly Command[] => [
  command,
  ...command.commands.flatMap((below) => commandsOf(below)),
];
const subcommandsOf = ({ commands }: Command) => commands.map((below) => below.name());
const choicesOf = ({ registeredArguments }: Command) =>
  registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
const optionsOf = ({ options }: Command) => [...options.flatMap(({ long }) => long ?? []), '--help'];

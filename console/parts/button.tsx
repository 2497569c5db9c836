import type { ComponentChildren } from 'preact';
import type { IconName } from './icon';
import { Icon } from './icon';

interface ButtonProps {
  readonly children: ComponentChildren;
  readonly onClick?: (event: MouseEvent) => void;
  readonly kind?: 'primary' | 'danger' | 'quiet';
  readonly type?: 'submit';
  readonly disabled?: boolean;
  readonly label?: string;
  readonly title?: string;
  readonly shortcut?: string;
  readonly pressed?: boolean;
}

export function Button({ children, kind, type, label, shortcut, pressed, ...rest }: ButtonProps) {
  return (
    <button
      type={type ?? 'button'}
      class={`button ${kind ?? ''}`}
      aria-label={label}
      aria-pressed={pressed}
      aria-keyshortcuts={shortcut}
      {...rest}
    >
      {children}
      {shortcut !== undefined && <kbd aria-hidden="true">{shortcut}</kbd>}
    </button>
  );
}

interface IconButtonProps {
  readonly label: string;
  readonly onClick: () => void;
  readonly icon?: IconName;
  readonly children?: string;
  readonly shortcut?: string;
  readonly isSmall?: boolean;
}

export function IconButton({ label, onClick, icon, children, shortcut, isSmall = false }: IconButtonProps) {
  return (
    <button
      type="button"
      class={isSmall ? 'icon-button bare mini' : 'icon-button bare'}
      aria-label={label}
      aria-keyshortcuts={shortcut}
      title={shortcut === undefined ? label : `${label} (${shortcut})`}
      onClick={onClick}
    >
      {icon === undefined ? children : <Icon name={icon} />}
    </button>
  );
}

interface ChipsProps<Name> {
  readonly label: string;
  readonly options: readonly { readonly name: Name; readonly shown: ComponentChildren; readonly title?: string | undefined }[];
  readonly chosen: Name;
  readonly onChoose: (name: Name) => void;
}

export function Chips<Name extends string | undefined>({ label, options, chosen, onChoose }: ChipsProps<Name>) {
  return (
    <div class="chips fixed" role="group" aria-label={label}>
      {options.map(({ name, shown, title }) => (
        <button key={name ?? ''} type="button" class="chip" aria-pressed={name === chosen} title={title} onClick={() => onChoose(name)}>
          {shown}
        </button>
      ))}
    </div>
  );
}

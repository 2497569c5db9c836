import { askForName, caller, identity, waitingForName } from './data/identity';
import { lazy } from './parts/lazy';
import { visibleText } from './parts/plain-text';
import { texts } from './texts';

const WhoDialog = lazy(async () => (await import('./who-dialog')).WhoDialog, <></>);

export function Who() {
  const { name } = identity.value;
  const act = waitingForName.value;
  const shown = name === '' ? texts.shell.nobody : visibleText(name);
  const youAre = caller.value === undefined ? texts.shell.youAre : texts.shell.loggedIn;
  const label = name === '' ? undefined : youAre(shown);
  const close = (): void => {
    waitingForName.value = undefined;
    if (identity.peek().name !== '') act?.();
  };
  return (
    <>
      <button
        type="button"
        class={name === '' ? 'who cut nobody' : 'who cut'}
        aria-label={label}
        title={label}
        onClick={() => askForName()}
      >
        <bdi>{shown}</bdi>
      </button>
      {act !== undefined && <WhoDialog onClose={close} />}
    </>
  );
}

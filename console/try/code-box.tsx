import { useState } from 'preact/hooks';
import { Chips } from '../parts/button';
import { CopyButton } from '../parts/copy-button';
import { visibleText } from '../parts/plain-text';
import { tryTexts } from '../texts/try';
import type { CodeRequest } from './code';
import { commandOf, curlOf, typescriptOf } from './code';

const languages = ['curl', 'typescript', 'command'] as const;

export function CodeBox({ request, hasProblems }: { readonly request: CodeRequest; readonly hasProblems: boolean }) {
  const [language, setLanguage] = useState<(typeof languages)[number]>('curl');
  const url = location.origin;
  const command = commandOf(url, request);
  const code = { curl: curlOf(url, request), typescript: typescriptOf(url, request), command: command.text }[language];
  return (
    <section class="stack" aria-label={tryTexts.code}>
      <div class="split flow wrap">
        <Chips
          label={tryTexts.code}
          options={languages.map((name) => ({ name, shown: tryTexts.languages[name] }))}
          chosen={language}
          onChoose={setLanguage}
        />
        <CopyButton text={code} label={tryTexts.copy(tryTexts.languages[language])} />
      </div>
      {/* The tab stop lets people scroll without a mouse. */}
      <pre class="code panel" tabIndex={0} aria-label={tryTexts.languages[language]}>
        <code>{visibleText(code)}</code>
      </pre>
      {language === 'command' && command.missing.length > 0 && <p class="muted">{tryTexts.missing(command.missing.join(', '))}</p>}
      {hasProblems && <p class="misfit">{tryTexts.withoutProblems}</p>}
    </section>
  );
}

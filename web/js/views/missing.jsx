/* missing.jsx - an address that no view has */
import { asView } from '../ui.jsx';

export default asView(({ app }) => {
  app.title('Not found');
  return (
    <>
      <h1>Page not found</h1>
      <p>
        See <a href="/">all runs</a> or <a href="/nodes">all nodes</a>.
      </p>
    </>
  );
});

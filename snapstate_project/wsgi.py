"""The WSGI application, for tools that want one. Serve with asgi.py: here ids with an encoded slash are not routed."""

import os

from django.core.wsgi import get_wsgi_application

from snapstate_project import checks

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "snapstate_project.settings")
application = get_wsgi_application()
checks.refuse_default_secrets()

# Assay as an image. One image serves, works and schedules; compose.yaml shows how.
FROM python:3.13-slim

ENV PYTHONUNBUFFERED=1 \
    DJANGO_SETTINGS_MODULE=annotator.settings \
    STATIC_ROOT=/srv/static \
    MEDIA_ROOT=/srv/files \
    BIND=0.0.0.0:8000

WORKDIR /app
COPY requirements.txt .
RUN pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements.txt

COPY manage.py ./
COPY annotator annotator
COPY reviews reviews
COPY goldsets goldsets
COPY templates templates
COPY static static

# Collecting scripts and style sheets loads the settings but connects to nothing.
RUN useradd --system --home-dir /srv assay \
    && mkdir -p /srv/static /srv/files \
    && DATABASE_URL=postgresql:///unused REDIS_URL=redis://unused SECRET_KEY=unused \
       python manage.py collectstatic --no-input --verbosity 0 \
    && chown -R assay /srv
USER assay
VOLUME /srv/files
EXPOSE 8000
CMD ["gunicorn", "-c", "annotator/gunicorn_conf.py", "annotator.wsgi"]

"""Does one steering vector in one open-weight model reproduce any model's yes and no about itself?"""
